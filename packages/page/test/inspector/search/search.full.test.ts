import type { AgentViewState } from '../../../src/inspector/model/agent/agentView.ts'
import { LogSearch } from '../../../src/inspector/model/search/logSearch.ts'
import { Search, type SearchLimits } from '../../../src/inspector/model/search/search.ts'
import { readQuery } from '../../../src/inspector/model/search/searchQuery.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { serveAgents } from '../../../../bridge/test/server/bridgeHarness.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'
import { lead } from '../birdAgents.ts'
import { recordsOf } from '../inspectorHarness.ts'

const inTurn = { v: 3, agentId: 'a', runId: 'a/r0', turnIndex: 0, time: 0 } as const
const said = (seq: number, text: string): LogRecord =>
  ({
    ...inTurn,
    seq,
    type: 'message.added',
    nodeId: seq,
    message: { role: 'user', source: 'prompt', content: [{ type: 'text', text }] },
  }) as unknown as LogRecord
const called = (seq: number, name: string, input: unknown): LogRecord =>
  ({
    ...inTurn,
    seq,
    type: 'reply.end',
    nodeId: seq,
    message: { role: 'assistant', stopReason: 'toolUse', content: [{ type: 'toolCall', callId: 'c1', name, input }] },
  }) as unknown as LogRecord
const ended = (seq: number, name: string, text: string, isError = false): LogRecord =>
  ({
    ...inTurn,
    seq,
    type: 'tool.end',
    nodeId: seq,
    callId: 'c1',
    name,
    message: { role: 'toolResult', isError, content: [{ type: 'text', text }] },
  }) as unknown as LogRecord

const found = (typed: string, records: readonly LogRecord[]): readonly number[] => {
  const search = new LogSearch(readQuery(typed), { agentId: 'a' })
  while (!search.look(records, records.length, 100));
  return search.hits.map(({ seq }) => seq)
}

const log = [
  said(1, 'Please fix the CACHE of a.*b'),
  called(2, 'run_command', { command: 'npm test', depth: [{ inner: 'deep words' }] }),
  ended(3, 'run_command', 'all green', false),
  called(4, 'edit_file', { path: 'cache.ts' }),
  ended(5, 'edit_file', 'no such cache', true),
]

describe('what is typed into the search of the page', (it) => {
  it('is text as it stands, whatever signs are in it', () => {
    assert.equal(found('cache', log), [1, 4, 5])
    assert.equal(found('a.*b', log), [1])
    assert.equal(found('a.*', [said(1, 'abc')]), [])
    assert.equal(found('(a+)+$', [said(1, 'a'.repeat(50_000))]), [])
    assert.equal(found('DEEP words', log), [2])
    assert.equal(readQuery('('.repeat(5_000)).text.length, 1_000)
  })

  it('narrows to failures and to tools, whose calls are found by what they were given too', () => {
    assert.equal(found('is:error', log), [5])
    assert.equal(found('tool:run_command', log), [3])
    assert.equal(found('tool:RUN_COMMAND npm', log), [3])
    assert.equal(found('tool:edit_file npm', log), [])
    assert.equal(found('is:error tool:edit_file cache', log), [5])
    assert.equal(readQuery('fix is:error  this'), { text: 'fix this', errors: true, tools: [], agents: 'own' })
    assert.equal(readQuery('"is:error"').text, 'is:error')
    assert.equal(readQuery('is:great agent:* x').text, 'is:great x')
    assert.equal(readQuery('agent:b agent:c').agents, ['b', 'c'])
  })

  it('is looked for a part at a time, each of which leaves no record half done', () => {
    const search = new LogSearch(readQuery('word'), { agentId: 'a' })
    const records = Array.from({ length: 10 }, (_, index) => said(index + 1, `word ${'x'.repeat(1_000)}`))
    const counts: number[] = []
    while (!search.look(records, records.length, 2_100)) counts.push(search.hits.length)
    assert.equal(counts, [2, 4, 6, 8])
    assert.is(search.hits.length, 10)
    assert.ok(search.hits.every(({ excerpt }) => excerpt.length <= 160))
  })
})

/** A tree of three, and a search of its lead's page. */
async function tree(context: CaseContext, limits: Partial<SearchLimits> = {}) {
  const { runtime, store, connect } = await serveAgents(context, [lead])
  const agent = await runtime.spawn(lead, { id: 'lead' })
  await agent.prompt('go').result
  const records = await recordsOf(store, 'lead')
  const clock = simulatedClock()
  const search = new Search({ clock, limits })
  const state = (agentId: string, own: readonly LogRecord[]) => () =>
    ({ agentId, records: own, past: [], at: null, lastSeq: own.length }) as unknown as AgentViewState
  const client = connect()
  const until = async (what: () => boolean): Promise<void> => {
    for (; !what(); clock.advance(1)) await new Promise((resolve) => setImmediate(resolve))
  }
  return { search, client, state, records, until, store }
}

describe('a search through a tree of agents', (it) => {
  it('finds a word that only a grandchild said, and stays when one goes there', async (context) => {
    const { search, client, state, records, until, store } = await tree(context)
    search.look('heron', { client, state: state('lead', records) })
    await until(() => !search.progress.value.isBusy)
    assert.equal(search.hits.value, [])
    search.look('HERON agent:*', { client, state: state('lead', records) })
    await until(() => search.hits.value.length > 0 && !search.progress.value.isBusy)
    const { known, read, left } = search.progress.value
    assert.equal({ known, read, left }, { known: 3, read: 3, left: [] })
    const [child = ''] = records.flatMap((record) => (record.type === 'tool.start' ? [record.childId ?? ''] : []))
    const below = await recordsOf(store, child)
    const [grandchild] = below.flatMap((record) => (record.type === 'tool.start' ? [record.childId ?? ''] : []))
    const reached = search.hits.value.filter(({ agentId }) => agentId === grandchild)
    assert.is(reached.length, 1)
    assert.match(reached[0]!.excerpt, /The heron stood/)
    const hits = search.hits.value
    search.look('HERON agent:*', { client, state: state(child, below) })
    assert.is(search.hits.value, hits)
    search.goTo(hits.at(-1)!)
    assert.is(search.at.value, hits.length - 1)
    search.close()
    assert.equal(search.hits.value, [])
  })

  it('reads no more than its limits, can be stopped, and says what was left out', async (context) => {
    const { search, client, state, records, until } = await tree(context, { agents: 2 })
    search.look('heron agent:*', { client, state: state('lead', records) })
    await until(() => !search.progress.value.isBusy && search.progress.value.read > 0)
    assert.is(search.progress.value.read, 2)
    assert.equal(search.progress.value.left, ['only 2 agents are searched'])
    search.look('go agent:*', { client, state: state('lead', records) })
    assert.is(search.progress.value.isBusy, true)
    search.stop()
    assert.equal(search.progress.value.left, ['it was stopped'])
    await until(() => true)
    assert.is(search.progress.value.isBusy, false)
  })
})
