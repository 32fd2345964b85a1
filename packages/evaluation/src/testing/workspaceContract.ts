import type { Workspace } from '../../../tools/src/workspace/port.ts'
import { closeChecks } from './workspace/closeChecks.ts'
import { commandChecks } from './workspace/commandChecks.ts'
import {
  bytesOf,
  demandEqual,
  demandRefusal,
  never,
  pathsOf,
  readText,
  type WorkspaceLack,
} from './workspace/demands.ts'
import { fileChecks } from './workspace/fileChecks.ts'
import { pathChecks } from './workspace/pathChecks.ts'

/** One guarantee of a workspace, as a case for any test runner. */
export interface WorkspaceContractCase {
  readonly name: string
  /** Rejects with a readable error if the guarantee is broken. Creates its own workspace, and closes it. */
  run(): Promise<void>
}

export interface WorkspaceContractOptions {
  /** Creates a workspace with an empty root. */
  create(): Promise<Workspace> | Workspace
  /** Creates a workspace in which `old.txt` holds `old`, without room for `new.txt` or for more in `old.txt`: by a simulated fault, if necessary. */
  createFull?(): Promise<Workspace> | Workspace
  /**
   * Parts of the contract that this kind of workspace cannot keep: `commands`; `links`, made by commands; `modes` of files; `groups`: it ends
   * the children of a command, and passes its output in order and byte for byte; `streams`: output comes while a command runs. Default: none.
   */
  readonly lacks?: readonly WorkspaceLack[]
}

/**
 * The contract of `Workspace` as cases for any test runner: `for (const { name, run } of workspaceContract({ create })) it(name, run)`. Cases are
 * independent. Some write 16 MiB, or wait for processes to end: give each 10 seconds.
 */
export function workspaceContract({
  create,
  createFull,
  lacks = [],
}: WorkspaceContractOptions): readonly WorkspaceContractCase[] {
  const checks = { ...fileChecks, ...pathChecks, ...commandChecks, ...closeChecks }
  const cases = Object.entries(checks)
    .filter(([, { needs }]) => !needs.some((need) => lacks.includes(need)))
    .map(([name, check]) => ({ name, run: () => closing(create, check.run) }))
  if (createFull === undefined) return cases
  return [
    ...cases,
    { name: 'keeps the old file when there is no room for the new', run: () => closing(createFull, full) },
  ]
}

async function closing(
  create: WorkspaceContractOptions['create'],
  run: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  const workspace = await create()
  try {
    await run(workspace)
  } finally {
    await workspace.close()
  }
}

async function full(workspace: Workspace): Promise<void> {
  const put = (path: string): Promise<void> => workspace.write(path, bytesOf('x'.repeat(2_000_000)), { signal: never })
  await demandRefusal(() => put('old.txt'), 'WORKSPACE_FULL', 'a file that does not fit is refused.')
  await demandRefusal(() => put('new.txt'), 'WORKSPACE_FULL', 'a new file that does not fit is refused.')
  demandEqual(await readText(workspace, 'old.txt'), 'old', 'the old content must still be there.')
  demandEqual(await pathsOf(workspace, '.'), ['old.txt'], 'nothing of the new may be left.')
}
