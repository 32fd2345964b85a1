const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i

/** An image block of base64, or of a data URL with base64 in it, whose own type is the one that counts. */
export function imageBlock(data: string, mimeType: string): { type: 'image'; data: string; mimeType: string } {
  // A long text is not searched: a data URL begins with its type.
  const [head, type] = dataUrl.exec(data.slice(0, 200)) ?? []
  if (head === undefined || type === undefined) return { type: 'image', data, mimeType }
  return { type: 'image', data: data.slice(head.length), mimeType: type.toLowerCase() }
}

/** What is wrong with the data of an image, for whoever gave it; `undefined`: it may be base64. */
export function wrongInImage(data: unknown): string | undefined {
  const fromBytes = "Buffer.from(bytes).toString('base64')"
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return `its data is bytes: give base64, ${fromBytes}`
  if (typeof data !== 'string') return `its data is ${data === null ? 'null' : typeof data}: give base64`
  if (/^[a-z][a-z0-9+.-]*:/i.test(data.slice(0, 40)) && !dataUrl.test(data.slice(0, 200)))
    return `its data is an address, ${JSON.stringify(data.slice(0, 40))}: give base64, ${fromBytes}, or a data URL of it`
  return undefined
}
