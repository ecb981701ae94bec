/**
 * Elements and components; the properties of components are checked. Text stays text: user content never becomes markup.
 */
import { type Attributes, type ComponentChildren, type ComponentType, h as create, type VNode } from "preact"

export type View = VNode<object>

export interface Create {
  (
    tag: string,
    properties: Readonly<Record<string, unknown>> | null,
    ...children: ReadonlyArray<ComponentChildren>
  ): View
  <P>(
    component: ComponentType<P>,
    properties: (NoInfer<P> & Attributes) | null,
    ...children: ReadonlyArray<ComponentChildren>
  ): View
}

export const h = create as Create
