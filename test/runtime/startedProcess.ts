import { pathToFileURL } from 'node:url'
import { assert, type CaseContext } from '../support/suite.ts'
import { startChild } from '../../packages/cli/test/cliChild.ts'
import type { StartReport } from './startProbe.ts'

const probe = new URL('./startProbe.ts', import.meta.url)

/** Runs Node with these arguments to its end, which is to be a good one. */
export async function started(context: CaseContext, args: readonly string[]): Promise<StartReport> {
  const { code, stderr } = await startChild(context, [process.execPath, '--import', probe.href, ...args], { input: '' })
    .ended
  assert.is(code, 0, stderr)
  return JSON.parse(stderr) as StartReport
}

/** Arguments of Node for a program. */
export const running = (program: string): readonly string[] => ['--input-type=module', '--eval', program]

/** Imports a file, in a program. */
export const importOf = (file: string): string => `await import(${JSON.stringify(pathToFileURL(file))})`

/** Arguments of Node for a program that only imports a file. */
export const importing = (file: string): readonly string[] => running(importOf(file))

/** The addresses of loaded modules that match. */
export const loaded = ({ modules }: StartReport, pattern: RegExp): readonly string[] =>
  modules.filter((address) => pattern.test(address))

/** Modules that no start needs: a server and what it speaks, other processes, drawing. Checks by JSON Schema are in the package. */
export const forLater =
  /\/node_modules\/(?:ws|elkjs|@(?!earendil-works\/pi-schema))|^node:(?:http|https|net|tls|child_process)$/
