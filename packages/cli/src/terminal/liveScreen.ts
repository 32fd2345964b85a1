import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { CliHost } from '../cliHost.ts'
import { Bell } from './bell.ts'
import { coloursFor, type Colours } from './colours.ts'
import type { Completer } from './input/completion.ts'
import { InputLine, type DrawnInput, type SubmittedLine } from './input/inputLine.ts'
import type { InputRequest } from './input/inputState.ts'
import type { Key } from './input/keys.ts'
import { Pastes } from './input/pastes.ts'
import { formPanel, pickerPanel, type FormToFill, type Panel, type PanelMaker } from './input/panels.ts'
import type { FormAnswer } from './input/form.ts'
import type { PickerItem } from './input/picker.ts'
import { menuRows, stepMenu, type MenuItem } from './menu.ts'
import type { Screen } from './screen.ts'
import { drawnRow, lastRowsOf, wordWrapped } from './wordWrap.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../../charts/src/textWidth.ts'

export interface LineInput {
  readonly prompt: string
  /** Called with a submitted line. `typed`: the part that was typed and not pasted. */
  onLine(line: string, typed: string): void
  /** Returns true if a line goes to `onLine` even while a question is open. */
  isCommand?(line: string): boolean
  /** Called for Ctrl-C, while the typed text is still there. */
  onInterrupt(): void
  /** Called for Esc when it does not close anything. */
  onEscape?(): void
  /** Called for Ctrl-D on an empty line, or when the terminal has gone away. */
  onEnd(): void
  /** Completes the line while it is typed. */
  readonly complete?: Completer
  /** Keeps a line for other runs. `namesNone`: at least one of its `@` was pasted. */
  keep?(line: string, namesNone: boolean): void
}

interface Question {
  readonly prompt: string
  readonly menu: readonly MenuItem[]
  /** Index of the chosen answer of the menu. */
  chosen: number | undefined
  /** True once keys go to the question. This waits until a person who was typing when it came has paused. */
  isOpen: boolean
  answer(line: string | undefined): void
}

/** Number of rows assumed for a terminal that does not report it. */
const usualRows = 24
/** Minimum number of rows left to the input line by the answers below a question. */
const leastInputRows = 4

/**
 * A terminal whose last lines are redrawn: below the text a status line, and below that the input line. The last line of text is
 * rewritten as it grows, so that streamed text is visible before its line is complete.
 */
export class LiveScreen implements Screen {
  readonly #host: CliHost
  readonly #clock: Clock
  /** The last row of the last line of text, after wrapping. */
  #partial = ''
  /** Indent of the last line of text, in columns. */
  #indent: number | undefined
  #status: string | undefined
  /** Returns the text that may still change, as lines for a number of columns. */
  #rest: ((columns: number) => readonly string[]) | undefined
  /** Widths of the rows from that of `#partial` to that of the cursor, and the number of columns before the cursor. */
  #drawn: { readonly widths: readonly number[]; readonly column: number } = { widths: [0], column: 0 }
  #line: InputLine | undefined
  readonly #pastes = new Pastes()
  readonly #bell: Bell
  /** Lines sent so far, with pastes as marks. */
  #said: readonly string[] = []
  #input: LineInput | undefined
  #question: Question | undefined
  /** Text typed for a question that was withdrawn. It is not a message, and is put aside as soon as the next question comes. */
  #leftOver = ''
  /** Lists and forms in place of the line. The last one gets the keys. */
  readonly #panels: Panel[] = []
  #isClosed = false

  constructor(host: CliHost, clock: Clock = systemClock) {
    this.#host = host
    this.#clock = clock
    this.#bell = new Bell(host, clock)
    host.stdout.on('resize', this.#onResize)
  }

  get isAtLineStart(): boolean {
    return this.#partial === ''
  }

  get columns(): number {
    return this.#host.stdout.columns
  }

  /** The input that has not been submitted. */
  get typed(): string {
    return this.#line?.typed ?? ''
  }

  write(text: string): void {
    if (text === '' || this.#isClosed) return
    this.#flow(this.#partial + text)
  }

  grow(lines: readonly string[], rest?: (columns: number) => readonly string[]): void {
    if (this.#isClosed) return
    const erase = this.#erase()
    const open = lines.length > 0 && this.#partial !== '' ? `${drawnRow(this.#partial, this.columns)}\n` : ''
    if (open !== '') this.#partial = ''
    this.#rest = rest
    this.#host.stdout.write(erase + open + lines.map((line) => `${line}\n`).join('') + this.#lastRows())
  }

  ring(): void {
    if (!this.#isClosed) this.#bell.ring()
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

  /** Adds texts of other runs, the newest last, to the history of the line. */
  addOlder(lines: readonly string[]): void {
    this.#line?.addOlder(lines)
  }

  /** Empties the line being typed. */
  clearTyped(): void {
    this.#line?.clear()
    this.#redraw()
  }

  /** Draws the input again, after its completions have changed. */
  refresh(): void {
    this.#redraw()
  }

  readonly isInteractive = true

  ask(question: string, signal: AbortSignal, menu: readonly MenuItem[] = []): Promise<string | undefined> {
    if (signal.aborted || this.#isClosed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      let cancel = (): void => {}
      const answer = (line: string | undefined): void => {
        cancel()
        signal.removeEventListener('abort', onAbort)
        this.#question = undefined
        this.#line?.bringBack()
        this.#release()
        this.#redraw()
        resolve(line)
      }
      const onAbort = (): void => {
        if (asked.isOpen) this.#leftOver = this.typed
        answer(undefined)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#edit()
      const asked: Question = { prompt: question, menu, chosen: undefined, isOpen: false, answer }
      this.#question = asked
      const open = (): void => {
        const wait = this.#typesForMs
        if (wait > 0) return void (cancel = this.#clock.after(wait, open))
        // What was being typed is no answer.
        this.#line?.setAside()
        asked.isOpen = true
        this.#redraw()
      }
      this.#bell.ring()
      open()
    })
  }

  /** Lets a person choose from a list. Resolves with the index of an item, or with `undefined` if none was chosen or `signal` aborts. */
  pick(title: string, items: readonly PickerItem[], signal: AbortSignal): Promise<number | undefined> {
    return this.#show(pickerPanel(title, items), signal)
  }

  /** Lets a person fill in a form, once a typing person has paused; `undefined` if there is no answer or `signal` aborts. */
  async fillIn(form: FormToFill, signal: AbortSignal): Promise<FormAnswer | undefined> {
    this.#bell.ring()
    for (let wait = this.#typesForMs; wait > 0; wait = this.#typesForMs) await pause(wait, this.#clock, signal)
    const isCommand = (text: string): boolean => {
      const isOne = this.#input?.isCommand?.(text) === true
      if (isOne) this.#input?.onLine(text, text)
      return isOne
    }
    return this.#show(formPanel({ ...form, isCommand }), signal)
  }

  #show<T>(make: PanelMaker<T>, signal: AbortSignal): Promise<T | undefined> {
    if (signal.aborted || this.#isClosed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const onAbort = (): void => end(undefined)
      const end = (result: T | undefined): void => {
        signal.removeEventListener('abort', onAbort)
        const at = this.#panels.indexOf(panel)
        if (at >= 0) this.#panels.splice(at, 1)
        this.#release()
        this.#redraw()
        resolve(result)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const panel = make(end, this.#colours)
      this.#panels.push(panel)
      this.#edit()
      this.#redraw()
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#input = undefined
    this.#endPanels()
    this.#question?.answer(undefined)
    this.#status = undefined
    this.#endEdit()
    this.grow(this.#rest?.(this.columns) ?? [])
    if (this.#partial !== '') this.#host.stdout.write('\n')
    this.#isClosed = true
    this.#host.stdout.off('resize', this.#onResize)
  }

  get #openQuestion(): Question | undefined {
    return this.#question?.isOpen === true ? this.#question : undefined
  }

  #edit(): void {
    if (this.#line !== undefined) return
    const options = {
      host: this.#host,
      clock: this.#clock,
      prompt: () => this.#openQuestion?.prompt ?? this.#input?.prompt ?? '',
      isAnswer: () => this.#openQuestion !== undefined || this.#input === undefined,
      complete: this.#input?.complete,
      onKey: (key: Key) => this.#bell.see(key) || this.#panels.at(-1)?.take(key) === true || this.#onMenuKey(key),
      onChange: this.#redraw,
      onSubmit: (line: SubmittedLine) => this.#submit(line),
      onRequest: (request: InputRequest) => this.#request(request),
    }
    this.#line = new InputLine(options, this.#pastes, this.#said)
  }

  /** Leaves the submitted line on the screen as text, and hands it on. */
  #submit({ text: line, echo, typed, hasPastedAt }: SubmittedLine): void {
    const question = this.#openQuestion
    const prompt = question?.prompt ?? this.#input?.prompt ?? ''
    this.write(`${this.#partial === '' ? '' : '\n'}${prompt}${withoutControls(echo)}\n`)
    const isAnswer = question !== undefined && this.#input?.isCommand?.(line) !== true
    if (isAnswer) return question.answer(line)
    if (question === undefined) this.#input?.keep?.(line, hasPastedAt)
    this.#input?.onLine(line, typed)
  }

  #request({ type }: InputRequest): void {
    if (type === 'interrupt') {
      if (this.#input !== undefined) this.#input.onInterrupt()
      else process.kill(process.pid, 'SIGINT')
    } else if (type === 'escape') this.#input?.onEscape?.()
    else if (type === 'suspend') this.#line?.suspend()
    else if (type === 'clear') {
      this.#host.stdout.write('\u001B[2J\u001B[H')
      this.#drawn = { widths: [0], column: 0 }
    } else if (type === 'end') {
      this.#endPanels()
      const input = this.#input
      this.#endEdit()
      // In this order: leaving does not answer an open question.
      input?.onEnd()
      this.#question?.answer(undefined)
    }
  }

  #endPanels(): void {
    for (const panel of this.#panels.slice()) panel.end()
  }

  /** Takes the key if it is for the answers below an open question. */
  #onMenuKey(key: Key): boolean {
    const question = this.#openQuestion
    if (question === undefined) return false
    const step = stepMenu(question.chosen, key, this.typed, question.menu)
    question.chosen = step?.type === 'moved' ? step.chosen : undefined
    if (step?.type !== 'taken') return step !== undefined
    const { typed, isBegun = false } = step.item
    if (isBegun) this.#line?.type(`${typed} `)
    else this.#submit({ text: typed, echo: typed, typed, hasPastedAt: false })
    return true
  }

  /** Releases the terminal once no input is open. */
  #release(): void {
    if (this.#input === undefined && this.#question === undefined && this.#panels.length === 0) this.#endEdit()
  }

  #endEdit(): void {
    const line = this.#line
    if (line === undefined) return
    this.#line = undefined
    this.#bell.forget()
    this.#said = line.entries
    line.close()
  }

  /** Rewrites the last line of text, with the text that follows it. */
  #flow(text: string): void {
    const { done, open, indent } = wordWrapped(text, this.#host.stdout.columns, this.#indent)
    const erase = this.#erase()
    this.#partial = open
    this.#indent = indent
    this.#host.stdout.write(erase + done + this.#lastRows())
  }

  #redraw = (): void => {
    if (this.#isClosed) return
    const erase = this.#erase()
    this.#host.stdout.write(erase + this.#lastRows())
  }

  /** Redraws after a resize. Terminals rewrap existing rows when they get narrower. */
  #onResize = (): void => {
    const { columns } = this.#host.stdout
    const { widths, column } = this.#drawn
    const above = widths.slice(0, -1).reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    const rows = above + Math.floor(column / columns)
    this.#drawn = { widths: Array.from<number>({ length: rows + 1 }).fill(0), column: 0 }
    if (!this.#isClosed) this.#flow(this.#partial)
  }

  /** Moves to the start of `#partial` and clears everything below. */
  #erase(): string {
    const below = this.#drawn.widths.length - 1
    this.#drawn = { widths: [0], column: 0 }
    return `${below > 0 ? `\u001B[${below}A` : ''}\r\u001B[J`
  }

  #lastRows(): string {
    const { columns, rows } = this.#host.stdout
    const height = rows > 0 ? rows : usualRows
    const above: string[] = []
    const open = drawnRow(this.#partial, columns)
    if (open !== '') above.push(open)
    const status = this.#status === undefined ? [] : [fitted(this.#status, columns - 1)]
    const input = this.#drawnInput(columns, height - above.length - status.length)
    const rest = this.#rest?.(columns) ?? []
    // What has no room is shown once it is final. A row above stays free: terminals may keep what is cleared from the first one on.
    const room = height - 1 - above.length - status.length - (input?.rows.length ?? 0)
    above.push(...lastRowsOf(rest, columns, Math.max(1, room)), ...status)
    const all = [...above, ...(input?.rows ?? [])]
    if (input === undefined && above.length === (open === '' ? 0 : 1)) return open
    const row = input === undefined ? all.length - 1 : above.length + input.cursor.row
    const column = input === undefined ? textWidth(all.at(-1)!) : input.cursor.column
    this.#drawn = { widths: all.slice(0, row + 1).map(textWidth), column }
    if (input === undefined) return all.join('\n')
    const up = all.length - 1 - row
    return `${all.join('\n')}${up > 0 ? `\u001B[${up}A` : ''}\r${column > 0 ? `\u001B[${column}C` : ''}`
  }

  get #colours(): Colours {
    return coloursFor(this.#host.stdout, this.#host.env, this.#host.theme)
  }

  /** Milliseconds until a typing person counts as pausing. */
  get #typesForMs(): number {
    return ['', this.#leftOver].includes(this.typed) ? 0 : this.#bell.typesForMs
  }

  /** Draws the open list or form, or else the line being typed. */
  #drawnInput(columns: number, rows: number): DrawnInput | undefined {
    if (this.#line === undefined) return undefined
    const panel = this.#panels.at(-1)
    if (panel !== undefined) return panel.draw({ columns, rows })
    const { menu, chosen } = this.#openQuestion ?? { menu: [], chosen: undefined }
    const room = this.typed.startsWith('/') ? 0 : Math.max(0, rows - leastInputRows)
    const below = menuRows(menu, chosen, { columns: columns - 1, rows: room })
    const line = this.#line.draw(columns, rows - below.length)
    const colours = this.#colours
    const answers = below.map(({ text, isChosen }) => (isChosen ? colours.bold(text) : colours.dim(text)))
    return { ...line, rows: [...line.rows, ...answers] }
  }
}
