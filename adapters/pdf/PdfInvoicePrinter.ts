/**
 * Documents as PDF, A4, with PDFKit's built-in fonts. The library is large and is loaded with the first document.
 */
import { Effect, Layer } from "effect"
import type PDFDocument from "pdfkit"
import {
  amountText,
  columnsOf,
  type Invoice,
  InvoicePrinter,
  movementText,
  summaryOf,
  titleOf
} from "../../domain/invoices/Invoice.ts"
import { escapeHidden } from "../../domain/shared/PlainText.ts"

const MARGIN = 50
const INK = "#14201b"
const MUTED = "#53625b"
const LINE = "#c9d4ce"
const ACCENT = "#0a6a4d"

export const layer = Layer.succeed(InvoicePrinter, InvoicePrinter.of({ pdf: (invoice) => render(invoice) }))

const render = (invoice: Invoice): Effect.Effect<Uint8Array> =>
  Effect.flatMap(
    Effect.promise(() => import("pdfkit")),
    ({ default: PdfKit }) => printed(PdfKit, invoice)
  )

const printed = (PdfKit: typeof PDFDocument, invoice: Invoice): Effect.Effect<Uint8Array> =>
  Effect.callback((resume) => {
    const document = new PdfKit({
      size: "A4",
      margin: MARGIN,
      bufferPages: true,
      info: { Title: `${titleOf(invoice)} ${invoice.number}`, Author: "Agent Tool Billing" }
    })
    const chunks: Array<Buffer> = []
    document.on("data", (chunk: Buffer) => chunks.push(chunk))
    document.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
    document.on("error", (error: Error) => resume(Effect.die(error)))
    write(document, invoice)
    document.end()
  })

type Pdf = PDFKit.PDFDocument

const write = (pdf: Pdf, invoice: Invoice): void => {
  const width = pdf.page.width - 2 * MARGIN
  pdf.fillColor(ACCENT).font("Helvetica-Bold").fontSize(11).text("Agent Tool Billing", MARGIN, MARGIN)
  pdf
    .fillColor(INK)
    .fontSize(22)
    .text(titleOf(invoice), MARGIN, MARGIN + 26)
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["Number", invoice.number],
    ["Month", invoice.month],
    ["Issued", invoice.issuedAt.slice(0, 10)]
  ]
  facts.forEach(([name, value], index) => {
    const y = MARGIN + index * 16
    pdf
      .font("Helvetica")
      .fontSize(9)
      .fillColor(MUTED)
      .text(name, MARGIN + width - 190, y, { width: 70, align: "right" })
    pdf.fillColor(INK).text(value, MARGIN + width - 112, y, { width: 112, align: "right" })
  })
  pdf
    .fillColor(MUTED)
    .fontSize(9)
    .text(invoice.owner.role === "consumer" ? "For" : "To", MARGIN, MARGIN + 70)
  pdf
    .fillColor(INK)
    .fontSize(11)
    .text(latin(invoice.owner.name), MARGIN, MARGIN + 84, { width: width / 2, ellipsis: true, height: 28 })
  pdf
    .fillColor(MUTED)
    .fontSize(9)
    .text(latin(invoice.owner.email), { width: width / 2, ellipsis: true, height: 12 })
  pdf.text(invoice.owner.id)
  pdf.y = MARGIN + 150
  if (invoice.reason !== undefined) {
    pdf.fillColor(INK).fontSize(10).text(latin(invoice.reason), MARGIN, pdf.y, { width }).moveDown()
  }
  if (invoice.lines.length > 0) linesTable(pdf, invoice, width)
  summaryTable(pdf, invoice, width)
  numberPages(pdf, width)
}

const widthsOf = ({ kind }: Invoice, width: number): ReadonlyArray<number> => {
  const rest = kind === "statement" ? [50, 50, 50, 70, 60, 75] : [55, 50, 50, 50, 75, 80]
  return [width - rest.reduce((sum, one) => sum + one, 0), ...rest]
}

const ROW_HEIGHT = 26

const linesTable = (pdf: Pdf, invoice: Invoice, width: number): void => {
  const { cells, heads } = columnsOf(invoice)
  const widths = widthsOf(invoice, width)
  const row = (values: ReadonlyArray<string>, font: string, colour: string): void => {
    const { y } = pdf
    let x = MARGIN
    values.forEach((value, index) => {
      const align = index === 0 ? ("left" as const) : ("right" as const)
      pdf.font(font).fontSize(8.5).fillColor(colour)
      pdf.text(value, x, y, { width: widths[index]! - 6, height: 10, align, ellipsis: true })
      x += widths[index]!
    })
    pdf.y = y
  }
  const head = (): void => {
    row(["Tool", ...heads], "Helvetica-Bold", MUTED)
    rule(pdf, width, pdf.y + 14)
    pdf.y += 20
  }
  head()
  for (const line of invoice.lines) {
    if (pdf.y > pdf.page.height - MARGIN - 90) {
      pdf.addPage()
      pdf.y = MARGIN
      head()
    }
    const y = pdf.y
    row([latin(line.toolName), ...cells(line)], "Helvetica", INK)
    pdf.fontSize(7.5).fillColor(MUTED)
    pdf.text(latin(`${line.provider} · price ${line.priceVersion}`), MARGIN, y + 11, {
      width: widths[0]! - 6,
      height: 9,
      ellipsis: true
    })
    pdf.y = y + ROW_HEIGHT
  }
  rule(pdf, width, pdf.y)
  pdf.y += 8
}

const summaryTable = (pdf: Pdf, invoice: Invoice, width: number): void => {
  const room = 18 * (summaryOf(invoice).length + invoice.movements.length) + 60
  if (pdf.y > pdf.page.height - MARGIN - room) {
    pdf.addPage()
    pdf.y = MARGIN
  }
  for (const { label, strong, value } of summaryOf(invoice)) {
    const y = pdf.y
    pdf
      .font(strong ? "Helvetica-Bold" : "Helvetica")
      .fontSize(strong ? 12 : 10)
      .fillColor(INK)
    pdf.text(label, MARGIN, y, { width: width - 120, align: "right", lineBreak: false })
    pdf.text(value, MARGIN + width - 112, y, { width: 112, align: "right", lineBreak: false })
    pdf.y = y + 18
  }
  if (invoice.movements.length === 0) return
  pdf.y += 14
  pdf
    .font("Helvetica-Bold")
    .fontSize(9)
    .fillColor(MUTED)
    .text("Other movements of the balance in this month", MARGIN, pdf.y)
  for (const movement of invoice.movements) {
    const y = pdf.y + 3
    pdf.font("Helvetica").fontSize(9).fillColor(INK).text(movementText[movement.kind], MARGIN, y, { lineBreak: false })
    pdf.text(amountText(movement.amount), MARGIN + width - 112, y, { width: 112, align: "right", lineBreak: false })
    pdf.y = y + 13
  }
}

const numberPages = (pdf: Pdf, width: number): void => {
  const { count } = pdf.bufferedPageRange()
  for (let page = 0; page < count; page++) {
    pdf.switchToPage(page)
    // A text below the margin would start a new page.
    pdf.page.margins.bottom = 0
    pdf.font("Helvetica").fontSize(8).fillColor(MUTED)
    pdf.text(`Page ${page + 1} of ${count}`, MARGIN, pdf.page.height - 34, { width, align: "center", lineBreak: false })
  }
}

const rule = (pdf: Pdf, width: number, y: number): void => {
  pdf
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + width, y)
    .lineWidth(0.6)
    .strokeColor(LINE)
    .stroke()
}

/** The built-in fonts contain only Windows-1252; other characters are printed as question marks. */
const latin = (text: string): string => escapeHidden(text).replace(/[^\u0020-\u007e\u00a0-\u00ff–—‘’“”•…€]/gu, "?")
