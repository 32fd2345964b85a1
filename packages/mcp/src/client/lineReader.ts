interface Reader {
  /** Takes a line, without its end. */
  line(text: string): void
  /** Takes the first and last characters of an overlong line that was not kept. */
  tooLong(excerpt: string): void
  /** Called when a line exceeds every limit. */
  endless(): void
}

/** Maximum number of bytes of an overlong line that are skipped. */
const mostDropped = 512 * 1024 * 1024

/** Number of bytes kept of each end of an overlong line, which contain the id of the request that it answers. */
const excerptBytes = 256

/** Splits bytes into lines. A line in many pieces is joined once; an overlong line takes no memory. */
export class LineReader {
  readonly #maxBytes: number
  readonly #reader: Reader
  #pieces: Buffer[] = []
  #bytes = 0
  #head = ''
  #tail = Buffer.alloc(0)

  constructor(maxBytes: number, reader: Reader) {
    this.#maxBytes = maxBytes
    this.#reader = reader
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end))
      this.#end()
      from = end + 1
    }
    this.#keep(chunk.subarray(from))
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return
    this.#bytes += piece.length
    this.#pieces.push(piece)
    if (this.#bytes <= this.#maxBytes) return
    if (this.#bytes > this.#maxBytes + mostDropped) this.#reader.endless()
    const kept = Buffer.concat(this.#pieces)
    if (this.#head === '') this.#head = kept.toString('utf8', 0, excerptBytes)
    // A copy, so that the rest can go.
    this.#tail = Buffer.from(Buffer.concat([this.#tail, kept]).subarray(-excerptBytes))
    this.#pieces = []
  }

  #end(): void {
    const isTooLong = this.#head !== ''
    const text = isTooLong
      ? `${this.#head}${this.#tail.toString('utf8')}`
      : Buffer.concat(this.#pieces).toString('utf8').replace(/\r$/, '')
    this.#pieces = []
    this.#bytes = 0
    this.#head = ''
    this.#tail = Buffer.alloc(0)
    if (isTooLong) this.#reader.tooLong(text)
    else if (text.trim() !== '') this.#reader.line(text)
  }
}

/** Returns the number of the request that a line answers, found at the line's ends, because the text between them may contain anything. */
export function requestIn(excerpt: string): number | undefined {
  const found =
    /^\s*\{(?:"jsonrpc":"2\.0",)?"id":(\d{1,15}),/.exec(excerpt) ??
    /,"id":(\d{1,15})(?:,"jsonrpc":"2\.0")?\}\s*$/.exec(excerpt)
  return found === null ? undefined : Number(found[1])
}
