import { join } from 'node:path'
import { MemorySnapshots } from '../../../stores/src/memory/memorySnapshots.ts'
import { builtinModules } from 'node:module'
import { readFileSync } from 'node:fs'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { ImportGraph } from '../../../../test/support/importGraph.ts'
import { snapshotsOf } from '../../../../test/support/snapshotsOf.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { memoryWorkspace } from '../../src/workspace/memoryWorkspace.ts'
import type { Workspace } from '../../src/workspace/port.ts'
import { workspaceTools, type WorkspaceToolsOptions } from '../../src/workspace/workspaceTools.ts'

const limits = { timeoutMs: 10_000 }

/** Calls the tools of a workspace as the runtime does. */
function toolsOf(workspace: Workspace, options?: WorkspaceToolsOptions) {
  const tools = workspaceTools(workspace, options)
  const toolNamed = (name: string) => tools.find((one) => one.name === name)!
  return {
    tools,
    toolNamed,
    call: async (name: string, input: object, context: ToolContext = toolContext()): Promise<string> => {
      const parsed = toolNamed(name).parse(input)
      if (!parsed.ok) throw new Error(parsed.message)
      return String(await toolNamed(name).run(parsed.value, context))
    },
  }
}

const textIn = (files: ReadonlyMap<string, Uint8Array>, path: string): string | undefined => {
  const bytes = files.get(path)
  return bytes === undefined ? undefined : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

describe('the tools of a workspace, over files in memory', (it) => {
  it('read, write and edit, and keep line endings', limits, async () => {
    const memory = memoryWorkspace({ 'a.txt': '\uFEFFone\r\ntwo\r\n', 'b.bin': new Uint8Array([0, 1]) })
    const { call } = toolsOf(memory)
    assert.is(await call('read_file', { path: '/workspace/a.txt', offset: 2 }), '[lines 2–2 of 2]\ntwo\r\n')
    assert.match(
      await call('edit_file', { path: './a.txt', oldText: 'one\ntwo', newText: '1\n2' }),
      /^Edited a\.txt: 1/,
    )
    assert.is(textIn(memory.files(), 'a.txt'), '\uFEFF1\r\n2\r\n')
    assert.match(await call('write_file', { path: 'a.txt', content: 'x\ny\n' }), /CRLF.* and byte order mark were kept/)
    assert.is(textIn(memory.files(), 'a.txt'), '\uFEFFx\r\ny\r\n')
    assert.match(
      await call('write_file', { path: 'src/new.ts', content: 'a' }),
      /^Created src\/new\.ts: 1 bytes, 1 lines/,
    )
    await assert.rejects(call('read_file', { path: 'b.bin' }), /binary/)
    await assert.rejects(call('read_file', { path: 'src/mew.ts' }), /similar names there: "src\/new\.ts"/)
    await assert.rejects(call('read_file', { path: 'none/x' }), /nor does its folder "none"/)
    await assert.rejects(call('write_file', { path: '../x', content: '' }), /outside the workspace \/workspace/)
    await assert.rejects(call('run_command', { command: 'ls' }), /could not be started: this workspace is in memory/)
  })

  it('read a file of many windows by its lines', limits, async () => {
    const lines = Array.from({ length: 600_000 }, (_, index) => `line ${index + 1}`)
    const { call } = toolsOf(memoryWorkspace({ 'long.txt': lines.join('\n') }))
    const said = await call('read_file', { path: 'long.txt', offset: 599_999 })
    assert.is(said, '[lines 599999–600000 of 600000]\nline 599999\nline 600000')
  })

  it('list and search, with what is left out', limits, async () => {
    const { call } = toolsOf(
      memoryWorkspace({
        'a.ts': 'const a = 1\n',
        'src/b.ts': 'x\r\nconst b = 2',
        'node_modules/c.ts': 'const c',
        'd.md': '',
      }),
    )
    assert.is(await call('list_files', {}), 'a.ts\nd.md\nsrc/b.ts')
    assert.is(
      await call('list_files', { pattern: '*.ts', limit: 1 }),
      'a.ts\n[truncated: 1 of 2 files; narrow it with path or pattern, or raise limit]',
    )
    await assert.rejects(call('list_files', { path: 'a.ts' }), /is a file, not a folder; use read_file/)
    assert.is(await call('search_files', { pattern: '^const (\\w)' }), 'a.ts:1: const a = 1\nsrc/b.ts:2: const b = 2')
    assert.is(await call('search_files', { pattern: 'const', path: 'src/b.ts' }), 'src/b.ts:2: const b = 2')
    assert.is(await call('search_files', { pattern: 'const', glob: '*.md' }), '[no match in 1 file]')
    await assert.rejects(call('search_files', { pattern: 'const', path: 'none' }), /"none" does not exist/)
  })

  it('undo what they did, with the folders they made', limits, async () => {
    const memory = memoryWorkspace({ 'a.txt': 'one' })
    const { call, toolNamed } = toolsOf(memory, { snapshots: true })
    const snapshots = snapshotsOf(new MemorySnapshots())
    const did = async (name: string, input: object) => {
      const context = toolContext({ snapshots })
      await call(name, input, context)
      const { signal, callId, key, agent, deps, closeWith } = context
      const receipt = context.receipts.at(-1)!.data
      const undoing = {
        input: { path: 'a', content: '', oldText: 'a', newText: 'b' },
        receipt,
        earlier: [],
        signal,
        callId,
        key,
        agent,
        deps,
        closeWith,
        snapshots,
      }
      return () => toolNamed(name).undo!(undoing)
    }
    const undos = [
      await did('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' }),
      await did('write_file', { path: 'deep/er/b.txt', content: 'new' }),
      await did('delete_file', { path: 'a.txt' }),
    ]
    assert.equal([...memory.files().keys()], ['deep/er/b.txt'])
    for (const undo of undos.toReversed()) await undo()
    assert.equal(
      [...memory.files()].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]),
      [['a.txt', 'one']],
    )
    await assert.rejects(call('list_files', { path: 'deep' }), /does not exist/)
  })

  it('leave a file that something else changed in the middle of an edit', limits, async (context) => {
    const memory = memoryWorkspace({ 'a.txt': 'one' })
    const write: Workspace['write'] = async (path, bytes, options) => {
      await memory.write(path, new TextEncoder().encode('theirs'), { signal: context.signal })
      await memory.write(path, bytes, options)
    }
    const { call } = toolsOf({ ...memory, write })
    await assert.rejects(
      call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' }),
      /was changed by something else/,
    )
    assert.is(textIn(memory.files(), 'a.txt'), 'theirs')
  })

  it('refuse what is no workspace, and options that go with another', () => {
    const memory = memoryWorkspace()
    const { anew: _, ...single } = memory
    assert.throws(() => workspaceTools({} as never), /give the path of a folder, or a workspace/)
    assert.throws(() => workspaceTools(memory, { background: true }), /cannot go on in the background/)
    assert.throws(() => workspaceTools(single, { workspace: 'own' }), /only one of this workspace/)
    assert.throws(() => workspaceTools(memory, { workspace: 'mine' as never }), /workspace: /)
    const sandbox = { description: 'It runs.', launch: () => ({ argv: ['true'] as const }) }
    assert.throws(() => workspaceTools(memory, { sandbox }), /a sandbox is for a folder/)
    assert.match(
      workspaceTools(memory).find(({ name }) => name === 'run_command')!.description,
      /there are no commands/,
    )
  })

  it('need nothing of Node for files in memory', () => {
    const root = join(import.meta.dirname, '..', '..', '..', '..')
    const reached = new ImportGraph(root).reachedFrom('packages/tools/src/workspace/memoryWorkspace.ts')
    for (const file of reached) {
      const imports = [...readFileSync(join(root, file), 'utf8').matchAll(/^import (?!type).*? from '([^']+)'/gms)]
      for (const [, name = ''] of imports)
        assert.not.ok(name.startsWith('node:') || builtinModules.includes(name), `${file}: ${name}`)
    }
  })
})
