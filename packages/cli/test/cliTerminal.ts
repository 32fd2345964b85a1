import { spawnSync } from 'node:child_process'
import type { CaseContext, It } from '../../../test/support/suite.ts'
import { cliCommand, startChild, type CliChild } from './cliChild.ts'

/** Makes a terminal; of util-linux, so not everywhere. */
const ptyProgram = 'script'
const hasPty = spawnSync(ptyProgram, ['--version']).status === 0
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ')

/** Starts the command line at a terminal of so many columns. */
export const startAtTerminal = (
  context: CaseContext,
  args: readonly string[],
  { cwd, columns = 80 }: { readonly cwd: string; readonly columns?: number },
): CliChild =>
  startChild(
    context,
    [ptyProgram, '-qec', `stty cols ${columns} rows 40; exec ${quoted(cliCommand(args))}`, '/dev/null'],
    { cwd },
  )

/** A case that needs a terminal; skipped where none can be made. */
export const atTerminal = (it: It, title: string, body: (context: CaseContext) => Promise<void>): void =>
  hasPty ? it(title, { timeoutMs: 30_000 }, body) : it.skip(title)

// oxlint-disable-next-line no-control-regex -- colours and the like are what is to go
const escapes = /\u001B\[[\d;?]*[A-Za-z]|\r/g

/** Output sent to a terminal, as text. */
export const plain = (output: string): string => output.replace(escapes, '')
