import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { workspaceTools, type WorkspaceToolsOptions } from '../../src/workspace/workspaceTools.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'

/** A real folder with a workspace in it and, beside that, a folder the tools must not reach. */
export interface WorkspaceFolder {
  readonly dir: string
  readonly outside: string
  /** Checks the input as the runtime does, then runs the tool; resolves to its text. */
  call(tool: string, input: object, context?: ToolContext): Promise<string>
}

/** Makes one with the given files; it is removed after the case. */
export function workspaceFolder(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  files: { readonly [path: string]: string | Uint8Array } = {},
  options?: WorkspaceToolsOptions,
): WorkspaceFolder {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-workspace-')))
  cleanup(() => rmSync(base, { recursive: true, force: true }))
  const dir = join(base, 'workspace')
  const outside = join(base, 'outside')
  mkdirSync(dir)
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret.txt'), 'the secret\n')
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  return { dir, outside, call: caller(dir, options) }
}

/** The `call` of a folder, for one that exists already. */
export function caller(dir: string, options?: WorkspaceToolsOptions): WorkspaceFolder['call'] {
  const tools = workspaceTools(dir, options)
  return async (name, input, context = toolContext()) => {
    const tool = tools.find((candidate) => candidate.name === name)
    const parsed = tool?.parse(input)
    if (tool === undefined || !parsed?.ok) throw new Error(parsed?.ok === false ? parsed.message : `no tool ${name}`)
    return String(await tool.run(parsed.value, context))
  }
}

/** Real time, at fifty times the speed: timeouts and graces of real processes without the wait. */
export const hastyClock: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms / 50)
    return () => clearTimeout(timer)
  },
}

/** A clock whose long timers, the timeouts, run out when told; the short ones, graces, are hasty. */
export function timeoutsOnDemand(): { readonly clock: Clock; readonly expire: () => void } {
  const waiting = new Set<() => void>()
  return {
    expire: () => waiting.forEach((callback) => callback()),
    clock: {
      now: hastyClock.now,
      after: (ms, callback) => {
        if (ms < 5000) return hastyClock.after(ms, callback)
        waiting.add(callback)
        return () => void waiting.delete(callback)
      },
    },
  }
}
