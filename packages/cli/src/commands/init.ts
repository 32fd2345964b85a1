import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { configNames } from '../config/findConfig.ts'
import { initialFiles } from '../config/initialFiles.ts'
import { refuse, wantsJson } from '../sessions/sessionLogs.ts'

/** `escapement init`: writes a small configuration with an agent. Overwrites nothing. */
export const initCommand: CommandRun = (invocation, host) => Promise.resolve(init(invocation, host))

function init(invocation: Invocation, host: CliHost): number {
  const { dir = '.' } = invocation
  const folder = resolve(host.cwd(), dir)
  const there = configNames.find((name) => existsSync(join(folder, name)))
  if (there !== undefined) return refuse(host, `${join(dir, there)} is there already. Nothing was written.`)
  const ending = endingIn(folder)
  const files = initialFiles(ending, existsSync(join(folder, `agents.${ending}`)))
  write(folder, files)
  const written = Object.keys(files)
  const next = nextSteps(folder, dir)
  host.stdout.write(
    wantsJson(invocation, host)
      ? `${JSON.stringify({ folder, written, next: next.map(([command]) => command) })}\n`
      : `Wrote ${written.join(' and ')} in ${folder}.\n\nNext:\n${columns(next)}`,
  )
  return exitCodes.done
}

/** Writes the files, the configuration last, since a folder without it counts as not set up. @throws RuntimeError `INVALID_OPTION` */
function write(folder: string, files: { readonly [name: string]: string }): void {
  try {
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries(files).toReversed())
      writeFileSync(join(folder, name), text, { flag: 'wx' })
  } catch (thrown) {
    throw new RuntimeError('INVALID_OPTION', `The files could not be written: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

/** Returns the file extension to use. Node warns about a plain `.ts` if the nearest package.json does not declare modules. */
function endingIn(folder: string): 'ts' | 'mts' {
  for (let place = folder; ; place = dirname(place)) {
    const file = join(place, 'package.json')
    if (existsSync(file)) return isModule(file) ? 'ts' : 'mts'
    if (dirname(place) === place) return 'ts'
  }
}

function isModule(file: string): boolean {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { type?: unknown } | null)?.type === 'module'
  } catch {
    return false
  }
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `${`  ${first.padEnd(width)}  ${second}`.trimEnd()}\n`).join('')
}

function nextSteps(folder: string, dir: string): readonly (readonly [command: string, why: string])[] {
  const where = dir === '.' ? [] : [[`cd ${dir}`, ''] as const]
  const install = isInstalled(folder) ? [] : [['npm install escapement', 'the files import it'] as const]
  return [
    ...where,
    ...install,
    ['npx escapement chat', 'talk to the agent'],
    ['npx escapement run "fix the failing test"', 'give it one task'],
    ['npx escapement serve', 'put it on a WebSocket, with a page'],
  ]
}

function isInstalled(folder: string): boolean {
  try {
    createRequire(join(folder, 'escapement.config.ts')).resolve('escapement/package.json')
    return true
  } catch {
    return false
  }
}
