import { EventEmitter } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import type { CliHost } from '../cliHost.ts'

const pasteBegins = '\u001B[200~'
const pasteEnds = '\u001B[201~'
const ctrlC = '\u0003'

/** Length of the longest end of a text that could be the beginning of a paste mark. */
function beginningOf(mark: string, text: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
    if (mark.startsWith(text.slice(-length))) return length
  return 0
}

/**
 * A terminal's keys, as input for readline. Pastes are removed and passed to `onPaste`, each as a whole; bracketed paste mode
 * (`CSI ? 2004 h`) must be on. Synchronous, so that keys and pastes keep their order.
 */
export class KeyInput extends EventEmitter {
  readonly #stdin: CliHost['stdin']
  readonly #onPaste: (text: string) => void
  readonly #decoder = new StringDecoder()
  /** The paste so far; a long one arrives in many pieces. */
  #pasted: string[] | undefined
  /** The end of the last input, in case it is the beginning of a mark. */
  #held = ''

  constructor(stdin: CliHost['stdin'], onPaste: (text: string) => void) {
    super()
    this.#stdin = stdin
    this.#onPaste = onPaste
    stdin.on('data', this.#take)
    stdin.on('end', this.#end)
    stdin.resume()
  }

  /** Called by readline. */
  setRawMode(isRaw: boolean): void {
    if (typeof this.#stdin.setRawMode === 'function') this.#stdin.setRawMode(isRaw)
  }

  /** Readline pauses and resumes its input; this one flows until it is closed. */
  resume(): void {}
  pause(): void {}

  /** Releases the terminal. */
  close(): void {
    this.#stdin.off('data', this.#take)
    this.#stdin.off('end', this.#end)
    this.#stdin.pause()
  }

  #end = (): void => void this.emit('end')

  #take = (chunk: Buffer | string): void => {
    const came = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    // A lone key that was not pasted: the end of the paste never came.
    if (came === ctrlC && this.#pasted !== undefined) {
      this.#pasted = undefined
      this.#held = ''
    }
    let rest = this.#held + came
    this.#held = ''
    while (rest !== '') rest = this.#pasted === undefined ? this.#keys(rest, came) : this.#paste(rest, this.#pasted)
  }

  #keys(text: string, came: string): string {
    const at = text.indexOf(pasteBegins)
    // Esc alone is a key.
    const held = at !== -1 || came === '\u001B' ? 0 : beginningOf(pasteBegins, text)
    this.#held = text.slice(text.length - held)
    const keys = text.slice(0, at === -1 ? text.length - held : at)
    if (keys !== '') this.emit('data', keys)
    if (at === -1) return ''
    this.#pasted = []
    return text.slice(at + pasteBegins.length)
  }

  #paste(text: string, pieces: string[]): string {
    const at = text.indexOf(pasteEnds)
    const held = at === -1 ? beginningOf(pasteEnds, text) : 0
    this.#held = text.slice(text.length - held)
    pieces.push(text.slice(0, at === -1 ? text.length - held : at))
    if (at === -1) return ''
    this.#pasted = undefined
    this.#onPaste(pieces.join(''))
    return text.slice(at + pasteEnds.length)
  }
}
