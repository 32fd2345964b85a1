import { workspaceContract } from '../../../../evaluation/src/testing/workspaceContract.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { memoryWorkspace } from '../../../src/workspace/memoryWorkspace.ts'

describe('the contract of workspaces: files in memory', (it) => {
  const contract = workspaceContract({
    create: () => memoryWorkspace(),
    createFull: () => memoryWorkspace({ 'old.txt': 'old' }, { maxBytes: 1_000_000 }),
    lacks: ['commands', 'links', 'streams', 'groups'],
  })
  for (const { name, run } of contract) it(name, { timeoutMs: 10_000 }, run)

  it('has the files it is made with, and shows them after it is closed', async () => {
    const files = memoryWorkspace({ 'a.txt': 'one', 'b/c.bin': new Uint8Array([1, 2]) })
    await files.write('d', new Uint8Array([3]), { signal: new AbortController().signal })
    await files.close()
    assert.equal([...files.files().keys()], ['a.txt', 'b/c.bin', 'd'])
    assert.equal([...(files.files().get('b/c.bin') ?? [])], [1, 2])
    assert.throws(() => memoryWorkspace({ '../a': '' }), /outside the workspace/)
    assert.throws(() => memoryWorkspace({ a: 5 as never }), /the content of "a" must be a text or bytes/)
    assert.throws(() => memoryWorkspace({ a: '', 'a/b': '' }), /goes through a file/)
  })

  it('refuses commands, and says why', async (context) => {
    const running = memoryWorkspace().exec('ls', { signal: context.signal, timeoutMs: 1, onOutput: () => {} })
    await assert.rejects(running, /in memory, and has no commands/)
  })
})
