import { wrappedFor } from './wordWrap.ts'
import type { FormAnswer } from './input/form.ts'
import type { FormToFill } from './input/panels.ts'
import type { MenuItem } from './menu.ts'

/** Output target. On a terminal it may have a status line and an input line below the text; elsewhere it is text only. */
export interface Screen {
  /** Appends text. */
  write(text: string): void
  /**
   * Writes final lines unchanged, and shows text that may still change below all text, until the next call. `rest` returns its lines for a number of
   * columns. Only at terminals. Where rows cannot be redrawn, `rest` is not shown.
   */
  grow?(lines: readonly string[], rest?: (columns: number) => readonly string[]): void
  /** Rings the bell when something has ended, for a person who may be looking elsewhere. Only at a terminal. */
  ring?(): void
  /** Shows a status line below the text, or removes it; no effect unless it is a terminal. */
  setStatus(line: string | undefined): void
  /** Asks a question and waits for a line, or for one of the answers in `menu`; `undefined` if there is no person to answer or `signal` aborts. */
  ask(question: string, signal: AbortSignal, menu?: readonly MenuItem[]): Promise<string | undefined>
  /** Lets a person fill in a form; `undefined` as for `ask`. Only at terminals. */
  fillIn?(form: FormToFill, signal: AbortSignal): Promise<FormAnswer | undefined>
  /** Columns of the terminal. Missing for a pipe or a file. */
  readonly columns?: number
  /** True if there is a person to ask. */
  readonly isInteractive: boolean
  /** True if the text so far ends with a line break. */
  readonly isAtLineStart: boolean
  close(): void
}

/**
 * Returns a screen for a pipe or a file or, with `columns`, for a terminal whose cursor is not moved: text only. Growing text appears once final.
 */
export function plainScreen(output: { write(text: string): unknown }, columns?: number): Screen {
  let isAtLineStart = true
  const write = (text: string): void => {
    if (text === '') return
    // Words that are still to come may belong to the last one.
    const isLines = columns !== undefined && isAtLineStart && text.endsWith('\n')
    output.write(isLines ? wrappedFor({ isTTY: true, columns }, text) : text)
    isAtLineStart = text.endsWith('\n')
  }
  const grow = (lines: readonly string[]): void =>
    lines.length === 0 ? undefined : write([...(isAtLineStart ? [] : ['']), ...lines, ''].join('\n'))
  return {
    write,
    ...(columns === undefined ? {} : { columns, grow }),
    setStatus() {},
    isInteractive: false,
    ask: () => Promise.resolve(undefined),
    get isAtLineStart() {
      return isAtLineStart
    },
    close() {},
  }
}
