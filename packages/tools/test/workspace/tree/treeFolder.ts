import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { TreeOptions } from '../../../src/workspace/tree/treeUndo.ts'
import { workspaceTools, type WorkspaceToolsOptions } from '../../../src/workspace/workspaceTools.ts'
import type { Snapshots } from '../../../../../src/protocol/ports/snapshots.ts'
import { MemorySnapshots } from '../../../../stores/src/memory/memorySnapshots.ts'
import { snapshotsOf } from '../../../../../test/support/snapshotsOf.ts'
import type { CaseContext } from '../../../../../test/support/suite.ts'
import { toolContext } from '../../../../../test/support/toolContext.ts'
import { workspaceFolder } from '../workspaceFolder.ts'

interface Done {
  readonly name: string
  readonly of: string | undefined
  readonly receipt: unknown
}

interface Made {
  readonly tree?: TreeOptions
  readonly snapshots?: Snapshots
  readonly more?: WorkspaceToolsOptions
}

/** A folder whose commands can be undone, with the calls that were made there. */
export function treeFolder(
  context: Pick<CaseContext, 'cleanup' | 'signal'>,
  files: { readonly [path: string]: string | Uint8Array } = {},
  { tree = {}, snapshots = snapshotsOf(new MemorySnapshots()), more }: Made = {},
) {
  const { dir } = workspaceFolder(context, files)
  const tools = workspaceTools(dir, { ...more, snapshots: { tree } })
  const done: Done[] = []
  const toolOf = (name: string) => tools.find((one) => one.name === name)!

  /** Makes a call as an agent; resolves to its text, also of one that failed. */
  async function call(name: string, input: object, agent = 'agent-1'): Promise<string> {
    const seen = { ...toolContext({ snapshots, signal: context.signal }), agent: { id: agent, path: [] } }
    const tool = toolOf(name)
    const parsed = tool.parse(input)
    if (!parsed.ok) throw new Error(parsed.message)
    const said = await Promise.resolve(tool.run(parsed.value, seen)).catch(
      (thrown: unknown) => (thrown as Error).message,
    )
    const kept = seen.receipts.at(-1)
    if (kept !== undefined) done.push({ name, of: kept.of, receipt: kept.data })
    return String(said)
  }

  /** Undoes one call; resolves to the reason why something stays, `undefined` if nothing does. */
  async function undoOne(index: number, using = tools): Promise<string | undefined> {
    const { name, of, receipt } = done[index]!
    const earlier = done
      .slice(0, index)
      .filter((one) => one.of === of && of !== undefined)
      .map((one) => one.receipt)
    const { callId, key, agent, deps, closeWith } = toolContext()
    const input = name === 'run_command' ? { command: 'true' } : { path: 'a', content: '', oldText: 'a', newText: 'b' }
    const tool = using.find((one) => one.name === name)!
    const given = { callId, key, agent, deps, closeWith, snapshots, signal: context.signal }
    return await tool.undo!({ ...given, input, receipt, earlier: earlier.toReversed() }).then(
      () => undefined,
      (thrown: unknown) => (thrown as Error).message,
    )
  }

  return {
    dir,
    done,
    call,
    run: (command: string, agent?: string): Promise<string> => call('run_command', { command }, agent),
    undoOne,
    /** Undoes all calls, the newest first; resolves to the reasons why something stays. */
    async undo(using = tools): Promise<string[]> {
      const reasons: string[] = []
      for (let index = done.length - 1; index >= 0; index--) {
        const why = await undoOne(index, using)
        if (why !== undefined) reasons.push(why)
      }
      return reasons
    },
    /** The tools of another process. */
    others: () => workspaceTools(dir, { ...more, snapshots: { tree } }),
    seen: (skip: (path: string) => boolean = () => false) => seenIn(dir, skip),
  }
}

/** All that is in a folder, by path: kind, permissions and content. */
export function seenIn(dir: string, skip: (path: string) => boolean = () => false): Record<string, string> {
  const found: Record<string, string> = {}
  const look = (folder: string): void => {
    for (const name of readdirSync(join(dir, folder)).toSorted()) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (skip(path)) continue
      const place = join(dir, path)
      const stats = lstatSync(place)
      const mode = (stats.mode & 0o7777).toString(8)
      if (stats.isSymbolicLink()) found[path] = `link to ${readlinkSync(place)}`
      else if (stats.isDirectory()) {
        found[path] = `folder ${mode}`
        look(path)
      } else found[path] = `file ${mode} ${stats.isFile() ? readFileSync(place).toString('latin1') : ''}`
    }
  }
  if (existsSync(dir)) look('')
  return found
}

export const setModes = (dir: string, modes: { readonly [path: string]: number }): void => {
  for (const [path, mode] of Object.entries(modes)) chmodSync(join(dir, path), mode)
}
