import type { Command } from '../command.ts'
import { isRepeated, options, takesValue, type OptionName } from '../options.ts'

/** The kind of words that complete an operand or the value of an option. */
export type Completes = 'file' | 'folder' | 'session' | 'nothing'

/** An option as a shell completes it. */
export interface CompletedOption {
  /** Name without dashes. */
  readonly name: string
  readonly meaning: string
  /** The kind of its value; `undefined` if it takes none. */
  readonly value?: Completes
}

/** A command as a shell completes it. */
export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly operand: Completes
  readonly options: readonly CompletedOption[]
}

const byNotation: readonly (readonly [notation: RegExp, completes: Completes])[] = [
  [/<folder>/, 'folder'],
  [/<(?:file|path|program|store)>/, 'file'],
]

const byOperand: Readonly<Record<string, Completes>> = { 'session id': 'session', module: 'file', file: 'file' }

function completedOption(name: OptionName, { meanings }: Command): CompletedOption {
  const [notation, usual] = options[name]
  const meaning = meanings?.[name] ?? usual
  if (!takesValue(name) && !isRepeated(name)) return { name, meaning }
  return { name, meaning, value: byNotation.find(([pattern]) => pattern.test(notation))?.[1] ?? 'nothing' }
}

/** Returns the commands with everything that a shell can complete. Pure. */
export const completedCommands = (commands: Readonly<Record<string, Command>>): readonly CompletedCommand[] =>
  Object.entries(commands).map(([name, command]) => ({
    name,
    summary: command.summary,
    operand: command.task === 'none' ? 'nothing' : (byOperand[command.operand?.name ?? ''] ?? 'nothing'),
    options: command.options.map((option) => completedOption(option, command)),
  }))
