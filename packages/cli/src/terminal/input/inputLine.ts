import type { Clock } from '../../../../../src/protocol/ports/clock.ts'
import { withoutControls } from '../../../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../../../charts/src/textWidth.ts'
import type { CliHost } from '../../cliHost.ts'
import { coloursFor, type Colours } from '../colours.ts'
import type { Completer } from './completion.ts'
import { inputRows, shownRows } from './inputRows.ts'
import { historyOf, withEntry } from './history.ts'
import { inputOf, openList, stepInput, type InputContext, type InputRequest, type InputState } from './inputState.ts'
import { KeyInput } from './keyInput.ts'
import { cleanText, type Pastes } from './pastes.ts'
import type { Key } from './keys.ts'

/**
 * Codes that enable the modes that tell keys and pastes apart (bracketed paste, kitty's keyboard protocol, and xterm's `modifyOtherKeys`) and the
 * reports of the terminal's focus.
 */
const modesOn = '\u001B[?2004h\u001B[?1004h\u001B[>1u\u001B[>4;1m'
const modesOff = '\u001B[>4m\u001B[<u\u001B[?1004l\u001B[?2004l'
/** Code for terminals that would print the codes of the other modes. */
const pastesOn = '\u001B[?2004h'
const pastesOff = '\u001B[?2004l'

const mostRows = 10
const mostListed = 8
/** Number of lines above which a recalled text is shown by its size, like a paste. */
const mostRecalledLines = 10
const mostRecalled = 1_000

/** A submitted line. */
export interface SubmittedLine {
  readonly text: string
  /** The line as it is left on the screen. */
  readonly echo: string
  /** The typed part of the line, which may name files. */
  readonly typed: string
  /** True if the pasted part would name files if it were typed. */
  readonly hasPastedAt: boolean
}

/** Options of an input line: its terminal, and callbacks of the screen around it. */
export interface InputLineOptions {
  readonly host: CliHost
  readonly clock: Clock
  prompt(): string
  /** Returns true if the line answers a question. Answers are not kept in the history. */
  isAnswer(): boolean
  complete: Completer | undefined
  /** Called first with each key. Returns true if it took the key, which then has no effect on the line. */
  onKey?(key: Key): boolean
  /** Called when the line has changed. */
  onChange(): void
  onSubmit(line: SubmittedLine): void
  onRequest(request: Exclude<InputRequest, { type: 'submit' }>): void
}

/** Rows to draw, and the position of the cursor in them. */
export interface DrawnInput {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

/** Input line at a terminal, which it holds until it is closed. */
export class InputLine {
  readonly #options: InputLineOptions
  readonly #keys: KeyInput
  readonly #pastes: Pastes
  readonly #colours: Colours
  #state: InputState
  /** The line that was being typed when a question came. */
  #aside: InputState | undefined
  #isClosed = false

  /** `pastes`, `entries`: those of the previous line, so that its entries can be recalled with their pastes. */
  constructor(options: InputLineOptions, pastes: Pastes, entries: readonly string[]) {
    this.#options = options
    this.#pastes = pastes
    this.#colours = coloursFor(options.host.stdout, options.host.env, options.host.theme)
    this.#state = inputOf(entries)
    this.#keys = new KeyInput(options.host.stdin, options.clock, {
      onKeys: (keys) => this.#take(keys),
      onEnd: () => options.onRequest({ type: 'end' }),
    })
    // The terminal's modes must be off again however the process ends.
    options.host.on('exit', this.#endModes)
    this.#beginModes()
  }

  /** The typed text, with pastes as marks. */
  get typed(): string {
    return this.#state.editor.text
  }

  get entries(): readonly string[] {
    return this.#state.history.entries
  }

  /** Adds texts of earlier runs to the history, as older than all of this run's. */
  addOlder(texts: readonly string[]): void {
    const older = texts.map((text) => this.#recalled(text))
    const { history } = this.#state
    this.#state = {
      ...this.#state,
      history: { ...history, entries: [...older, ...history.entries], index: history.index + older.length },
    }
  }

  /** Inserts a text at the cursor, as if it were typed. */
  type(text: string): void {
    this.#apply({ type: 'text', text })
  }

  clear(): void {
    this.#state = inputOf(this.entries)
  }

  /** Puts the typed text aside until `bringBack`. */
  setAside(): void {
    if (this.typed === '' || this.#aside !== undefined) return
    this.#aside = this.#state
    this.clear()
  }

  bringBack(): void {
    if (this.#aside === undefined) return
    this.#state = { ...this.#aside, history: historyOf(this.entries) }
    this.#aside = undefined
  }

  /** Hands the terminal to the shell until the process continues. */
  suspend(): void {
    this.#endModes()
    this.#keys.setRawMode(false)
    process.once('SIGCONT', () => {
      if (this.#isClosed) return
      this.#keys.setRawMode(true)
      this.#beginModes()
      this.#options.onChange()
    })
    process.kill(process.pid, 'SIGTSTP')
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#keys.close()
    this.#options.host.off('exit', this.#endModes)
    this.#endModes()
  }

  /** Lays out the line and the list below it for a terminal of this size. */
  draw(columns: number, rows: number): DrawnInput {
    const state = this.#state
    const { search } = state
    const width = Math.max(1, columns - 1)
    const room = Math.max(1, Math.min(mostRows, rows - 2))
    if (search !== undefined) {
      const prompt = `search "${withoutControls(search.query)}": `
      const entry = search.query === '' ? '' : (this.entries[search.index] ?? '')
      const text = entry === '' && search.query !== '' ? 'no match' : entry
      return shownRows(inputRows(text, 0, { ...this.#context(width), prompt }), room)
    }
    const line = shownRows(inputRows(state.editor.text, state.editor.at, this.#context(width)), room)
    return { rows: [...line.rows, ...this.#listRows(width, rows - line.rows.length - 2)], cursor: line.cursor }
  }

  #listRows(columns: number, room: number): string[] {
    const list = openList(this.#state, this.#context(columns))
    const most = Math.min(mostListed, room)
    if (list === undefined || most < 1) return []
    const { items } = list
    const chosen = Math.min(this.#state.chosen, items.length - 1)
    const start = Math.min(Math.max(0, chosen - Math.floor(most / 2)), Math.max(0, items.length - most))
    const shown = items.slice(start, start + most)
    const nameWidth = Math.min(32, Math.max(...shown.map(({ text }) => textWidth(withoutControls(text).trimEnd()))))
    const rows = shown.map(({ text, detail = '' }, i) => {
      const name = withoutControls(text).trimEnd()
      const space = ' '.repeat(Math.max(0, nameWidth - textWidth(name)) + 2)
      const isChosen = start + i === chosen
      const row = fitted(
        `${isChosen ? '› ' : '  '}${name}${detail === '' ? '' : space + withoutControls(detail)}`,
        columns,
      )
      return isChosen ? this.#colours.bold(row) : this.#colours.dim(row)
    })
    const left = items.length - shown.length
    return left === 0 || room <= most ? rows : [...rows, this.#colours.dim(fitted(`  … ${left} more (↑ ↓)`, columns))]
  }

  #context(columns: number): InputContext {
    const { complete } = this.#options
    return {
      columns,
      prompt: this.#options.prompt(),
      hasHistory: !this.#options.isAnswer(),
      show: (character) => this.#pastes.abridge(character),
      textOf: (entry) => this.#pastes.expand(entry),
      paste: (text) => this.#pastes.take(text),
      ...(complete === undefined ? {} : { complete }),
    }
  }

  #take(keys: readonly Key[]): void {
    for (const key of keys) {
      if (this.#isClosed) return
      if (this.#options.onKey?.(key) !== true) this.#apply(key)
    }
    if (keys.length > 0 && !this.#isClosed) this.#options.onChange()
  }

  #apply(key: Key): void {
    const columns = Math.max(1, this.#options.host.stdout.columns - 1)
    const { state, request } = stepInput(this.#state, key, this.#context(columns))
    this.#state = state
    if (request?.type === 'submit') this.#submit()
    else if (request !== undefined) this.#options.onRequest(request)
  }

  #submit(): void {
    const { text } = this.#state.editor
    const isSaid = !this.#options.isAnswer()
    const history = isSaid ? withEntry(this.#state.history, text) : historyOf(this.entries)
    this.#state = { ...inputOf(history.entries) }
    const pastes = this.#pastes
    this.#options.onSubmit({
      text: pastes.expand(text),
      echo: pastes.echo(text),
      typed: pastes.typed(text),
      hasPastedAt: pastes.hasPastedAt(text),
    })
  }

  /** Converts a text of another run to its form in the line. */
  #recalled(text: string): string {
    const clean = cleanText(text)
    const isLong = clean.length > mostRecalled || clean.split('\n', mostRecalledLines + 1).length > mostRecalledLines
    return isLong ? this.#pastes.take(clean) : clean
  }

  get #modes(): readonly [on: string, off: string] {
    const { TERM: term } = this.#options.host.env
    if (term === 'dumb') return ['', '']
    return term === 'linux' ? [pastesOn, pastesOff] : [modesOn, modesOff]
  }

  #beginModes(): void {
    this.#options.host.stdout.write(this.#modes[0])
  }

  #endModes = (): void => {
    this.#options.host.stdout.write(this.#modes[1])
  }
}
