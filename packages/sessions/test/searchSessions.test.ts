import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { defineAgent, policyModel, type Store } from '../../../src/index.ts'
import { searchSessions } from '../../../src/sessions.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'Yes.') })

async function folder({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-search-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  return dir
}

describe('a search in a store without an index', (it) => {
  it('reads a log again only once it has changed, and finds nothing of one that is gone', async ({ cleanup }) => {
    const inner = fileStore(await folder({ cleanup }))
    const runtime = await createRuntime({ store: inner })
    cleanup(() => runtime.close())
    for (const [id, text] of [
      ['a1', 'the kingfisher dives'],
      ['a2', 'the heron waits'],
    ] as const) {
      const agent = await runtime.spawn(echo, { id })
      await agent.prompt(text).result
      await agent.close()
    }
    const read: string[] = []
    const store: Store = {
      append: (agentId, records) => inner.append(agentId, records),
      open: (agentId) => inner.open(agentId),
      list: () => inner.list(),
      stat: (agentId) => inner.stat!(agentId),
      close: () => inner.close(),
      read(agentId, fromSeq, limit) {
        if (limit === undefined) read.push(agentId)
        return inner.read(agentId, fromSeq, limit)
      },
    }
    const found = async (text: string): Promise<readonly string[]> =>
      (await searchSessions(store, { text })).map(({ agentId }) => agentId).toSorted()
    assert.equal([await found('kingfisher'), read.toSorted()], [['a1'], ['a1', 'a2']])
    read.length = 0
    assert.equal([await found('heron'), await found('the'), read], [['a2'], ['a1', 'a2'], []])

    const agent = await runtime.open('a2', echo)
    await agent.prompt('a kingfisher too').result
    await agent.close()
    assert.equal([await found('kingfisher'), read], [['a1', 'a2'], ['a2']])
    await inner.delete('a1')
    assert.equal(await found('kingfisher'), ['a2'])
  })

  it('looks at the beginning of a long text, each time the same', async ({ cleanup }) => {
    const store = fileStore(await folder({ cleanup }))
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(echo, { id: 'a1' })
    await agent.prompt(`kingfisher ${'x'.repeat(60_000)} heron`).result
    await agent.close()
    const [first, second] = [
      await searchSessions(store, { text: 'kingfisher' }),
      await searchSessions(store, { text: 'kingfisher' }),
    ]
    assert.is(first.length, 1)
    assert.equal(second, first)
    assert.equal(await searchSessions(store, { text: 'heron' }), [])
  })
})
