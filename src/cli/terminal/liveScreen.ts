import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import type { CliHost } from '../cliHost.ts'
import { KeyInput } from './keyInput.ts'
import { Pastes } from './pastes.ts'
import type { Screen } from './screen.ts'
import { withoutControls } from '../../charts/plainText.ts'
import { cellsOf, fitted, textWidth } from '../../charts/textWidth.ts'

/** Switches the terminal's bracketed paste mode on and off. */
const markPastes = '\u001B[?2004h'
const markNone = '\u001B[?2004l'
const ctrlZ = '\u001A'

export interface LineInput {
  readonly prompt: string
  onLine(line: string): void
  /** Whether a line goes to `onLine` even while a question is open. */
  isCommand?(line: string): boolean
  /** Ctrl-C, with what is typed. */
  onInterrupt(): void
  /** Ctrl-D on an empty line, or the terminal went away. */
  onEnd(): void
}

/**
 * A terminal whose last lines are redrawn: below the text a status line, and below that the input line. The last line of text is
 * rewritten as it grows, so that streamed text is visible before its line is complete.
 */
export class LiveScreen implements Screen {
  readonly #host: CliHost
  /** The unwrapped end of the last line of text. */
  #partial = ''
  #status: string | undefined
  /** Rows between the cursor and the row of `#partial`. */
  #below = 0
  #editor: Interface | undefined
  #keys: KeyInput | undefined
  readonly #pastes = new Pastes()
  #input: LineInput | undefined
  #question: { readonly prompt: string; answer(line: string | undefined): void } | undefined
  #isClosed = false

  constructor(host: CliHost) {
    this.#host = host
    host.stdout.on('resize', this.#redraw)
  }

  get isAtLineStart(): boolean {
    return this.#partial === ''
  }

  /** The input that has not been submitted. */
  get typed(): string {
    return this.#editor?.line ?? ''
  }

  write(text: string): void {
    if (text === '' || this.#isClosed) return
    const { columns } = this.#host.stdout
    let done = ''
    let line = ''
    let width = 0
    for (const cell of cellsOf(this.#partial + text)) {
      if (cell.text === '\n') {
        done += `${line}\n`
        line = ''
        width = 0
        continue
      }
      if (width + cell.width > columns) {
        // No line break: the terminal wraps by itself, and text copied from it stays one line.
        done += line
        line = ''
        width = 0
      }
      line += cell.text
      width += cell.width
    }
    const erase = this.#erase()
    this.#partial = line
    this.#host.stdout.write(erase + done + this.#lastRows())
  }

  setStatus(line: string | undefined): void {
    if (this.#status === line || this.#isClosed) return
    this.#status = line
    this.#redraw()
  }

  /** Starts accepting input. */
  open(input: LineInput): void {
    this.#input = input
    this.#edit()
    this.#redraw()
  }

  /** Empties the line being typed. */
  clearTyped(): void {
    this.#editor?.write(null, { ctrl: true, name: 'e' })
    this.#editor?.write(null, { ctrl: true, name: 'u' })
    this.#redraw()
  }

  readonly isInteractive = true

  ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted || this.#isClosed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const answer = (line: string | undefined): void => {
        signal.removeEventListener('abort', onAbort)
        this.#question = undefined
        if (this.#input === undefined) this.#endEdit()
        this.#redraw()
        resolve(line)
      }
      const onAbort = (): void => answer(undefined)
      signal.addEventListener('abort', onAbort, { once: true })
      this.#question = { prompt: question, answer }
      this.#edit()
      this.#redraw()
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#question?.answer(undefined)
    this.#input = undefined
    this.#status = undefined
    this.#endEdit()
    this.#redraw()
    if (this.#partial !== '') this.#host.stdout.write('\n')
    this.#isClosed = true
    this.#host.stdout.off('resize', this.#redraw)
  }

  /** Readline handles editing and history; its own output is discarded and the line is drawn here. */
  #edit(): void {
    if (this.#editor !== undefined) return
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    const keys = new KeyInput(this.#host.stdin, (text) => this.#paste(text))
    // Readline uses only this part of a stream.
    const input = keys as unknown as NodeJS.ReadableStream
    const editor = createInterface({ input, output: nowhere, terminal: true, prompt: '' })
    this.#keys = keys
    this.#editor = editor
    // Bracketed paste must be off again however the process ends.
    this.#host.on('exit', this.#endMarks)
    this.#beginMarks()
    editor.on('line', (typed) => {
      const question = this.#question
      this.#echo(typed)
      const line = this.#pastes.expand(typed)
      const isAnswer = question !== undefined && this.#input?.isCommand?.(line) !== true
      if (isAnswer) question.answer(line)
      else this.#input?.onLine(line)
    })
    editor.on('SIGINT', () => {
      if (this.#input !== undefined) this.#input.onInterrupt()
      else process.kill(process.pid, 'SIGINT')
    })
    keys.prependListener('data', (text: string) => {
      if (text.includes(ctrlZ)) this.#endMarks()
    })
    editor.on('SIGCONT', () => {
      editor.resume()
      this.#beginMarks()
      this.#redraw()
    })
    editor.on('close', () => {
      if (this.#editor !== editor) return
      this.#endEdit()
      // In this order: leaving does not answer an open question.
      this.#input?.onEnd()
      this.#question?.answer(undefined)
    })
    keys.on('keypress', this.#redraw)
  }

  #paste(text: string): void {
    this.#editor?.write(this.#pastes.take(text))
    this.#redraw()
  }

  #beginMarks(): void {
    if (this.#host.env['TERM'] !== 'dumb') this.#host.stdout.write(markPastes)
  }

  #endMarks = (): void => {
    if (this.#host.env['TERM'] !== 'dumb') this.#host.stdout.write(markNone)
  }

  #endEdit(): void {
    const editor = this.#editor
    if (editor === undefined) return
    this.#editor = undefined
    editor.close()
    this.#keys?.close()
    this.#host.off('exit', this.#endMarks)
    this.#endMarks()
  }

  /** Leaves the submitted line on the screen as text. */
  #echo(line: string): void {
    const prompt = this.#prompt()
    this.write(`${this.#partial === '' ? '' : '\n'}${prompt}${withoutControls(this.#pastes.echo(line))}\n`)
  }

  #prompt(): string {
    return this.#question?.prompt ?? this.#input?.prompt ?? ''
  }

  #redraw = (): void => {
    if (this.#isClosed) return
    const erase = this.#erase()
    this.#host.stdout.write(erase + this.#lastRows())
  }

  /** Moves to the start of `#partial` and clears everything below. */
  #erase(): string {
    const up = this.#below > 0 ? `\u001B[${this.#below}A` : ''
    this.#below = 0
    return `${up}\r\u001B[J`
  }

  #lastRows(): string {
    const { columns } = this.#host.stdout
    const rows: string[] = []
    if (this.#status !== undefined) rows.push(fitted(this.#status, columns - 1))
    let cursor = ''
    if (this.#editor !== undefined) {
      const { line, cursor: at } = this.#editor
      const [before, after] = [line.slice(0, at), line.slice(at)].map((part) => this.#pastes.abridge(part))
      const { text, column } = inputRow(this.#prompt(), before!, after!, columns - 1)
      rows.push(text)
      cursor = column === 0 ? '\r' : `\r\u001B[${column}C`
    }
    if (rows.length === 0) return this.#partial
    const all = this.#partial === '' ? rows : [this.#partial, ...rows]
    this.#below = all.length - 1
    return all.join('\n') + cursor
  }
}

/** The part of a line that fits, scrolled to include the cursor. */
function inputRow(prompt: string, before: string, after: string, columns: number): { text: string; column: number } {
  const room = Math.max(1, columns - textWidth(prompt))
  let start = ''
  let width = 0
  // Only the end of a long line is examined.
  for (const cell of [...cellsOf(before.slice(-16 * room))].toReversed()) {
    if (width + cell.width >= room) break
    start = cell.text + start
    width += cell.width
  }
  return { text: prompt + fitted(start + after, room), column: textWidth(prompt) + width }
}
