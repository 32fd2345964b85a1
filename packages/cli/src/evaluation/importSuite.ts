import { tell } from '../terminal/wordWrap.ts'
import { relative, resolve } from 'node:path'
import { importers } from '../../../evaluation/src/importers/importers.ts'
import { writeSuite } from '../../../evaluation/src/importers/writeSuite.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { counted } from '../../../charts/src/amounts.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { wantsJson } from '../sessions/sessionLogs.ts'

const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', what)

/**
 * `escapement eval import <name> <path> --out <folder>`: creates a suite from another benchmark that was downloaded before.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export async function importSuite(operands: string, invocation: Invocation, host: CliHost): Promise<number> {
  const [, name = '', path] = /^(\S*)\s*(.*)$/s.exec(operands) ?? []
  const names = Object.keys(importers)
  if (!Object.hasOwn(importers, name)) {
    const nearest = nearestWord(name, names)
    const hint = nearest === undefined ? `There are: ${names.join(', ')}.` : `Did you mean "${nearest}"?`
    throw wrong(name === '' ? `Say what to import: ${names.join(', ')}.` : `"${name}" cannot be imported. ${hint}`)
  }
  const importer = await importers[name]!()
  if (path === undefined || path === '') throw wrong(`eval import ${name} needs a path: ${importer.wants}.`)
  if (invocation.out === undefined) throw wrong(`eval import ${name} needs --out <folder>: where the suite goes.`)
  const folder = resolve(host.cwd(), invocation.out)
  const imported = await importer.read(resolve(host.cwd(), path))
  await writeSuite(folder, imported)
  const { tasks, needs, differs } = imported
  if (wantsJson(invocation, host)) {
    host.stdout.write(`${JSON.stringify({ folder, tasks: tasks.length, needs, differs })}\n`)
    return exitCodes.done
  }
  const shown = relative(host.cwd(), folder) || '.'
  host.stdout.write(`${counted(tasks.length, 'task')} of ${importer.title} are in ${shown}.\n`)
  tell(host.stdout, `Before it can be run, it needs:\n${needs.map((need) => `- ${need}\n`).join('')}`)
  tell(host.stdout, `It differs from the benchmark:\n${differs.map((each) => `- ${each}\n`).join('')}`)
  host.stdout.write(`Then: escapement eval ${shown}\n`)
  return exitCodes.done
}
