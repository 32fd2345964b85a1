import {
  check,
  type Checks,
  demand,
  demandEqual,
  demandRefusal,
  entriesOf,
  never,
  pathsOf,
  readBytes,
  readText,
  write,
} from './demands.ts'

export const closeChecks: Checks = {
  'says where and what it is': check(async (workspace) => {
    demand(/^[A-Z].*\.$/s.test(workspace.description), 'the description must be sentences.')
    demand(workspace.root.startsWith('/') || /^[A-Z]:\\/.test(workspace.root), 'the root must be an absolute path.')
  }),
  'refuses everything once it is closed': check(async (workspace) => {
    await write(workspace, 'a', 'x')
    await workspace.close()
    await demandRefusal(() => readBytes(workspace, 'a'), 'WORKSPACE_CLOSED', 'read after close.')
    await demandRefusal(() => write(workspace, 'a', 'y'), 'WORKSPACE_CLOSED', 'write after close.')
    await demandRefusal(() => workspace.remove('a', { signal: never }), 'WORKSPACE_CLOSED', 'remove after close.')
    await demandRefusal(() => entriesOf(workspace, '.'), 'WORKSPACE_CLOSED', 'list after close.')
    const running = (): Promise<unknown> =>
      workspace.exec('true', { signal: never, timeoutMs: 1000, onOutput: () => {} })
    await demandRefusal(running, 'WORKSPACE_CLOSED', 'exec after close.')
  }),
  'is closed twice, or without having been used': check(async (workspace) => {
    await Promise.all([workspace.close(), workspace.close()])
    await workspace.close()
    await demandRefusal(() => readBytes(workspace, 'a'), 'WORKSPACE_CLOSED', 'it stays closed.')
  }),
  'is made anew, apart from the one before': check(async (workspace) => {
    if (workspace.anew === undefined) return
    const other = workspace.anew()
    try {
      demandEqual(
        [other.root, other.description],
        [workspace.root, workspace.description],
        'it is one of the same kind.',
      )
      await workspace.close()
      await write(other, 'a', 'x')
      demandEqual(await readText(other, 'a'), 'x', 'the other works on.')
      demandEqual(await pathsOf(other, '.'), ['a'], 'it has what it was made with.')
    } finally {
      await other.close()
    }
  }),
}
