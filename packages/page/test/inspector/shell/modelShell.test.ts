import { KeptTexts } from '../../../src/inspector/model/shell/keptTexts.ts'
import { ShellChoices } from '../../../src/inspector/model/shell/shellChoices.ts'
import { childStanding } from '../../../src/inspector/model/sessions/childStanding.ts'
import type { LastRun } from '../../../../../src/protocol/runs/lastRun.ts'
import type { NewestRun } from '../../../src/inspector/model/agent/newestRun.ts'
import type { AgentViewState } from '../../../src/inspector/model/agent/agentView.ts'
import {
  callsUnderWay,
  costsOf,
  restWords,
  viewNow,
  viewStanding,
  waitsBelow,
} from '../../../src/inspector/model/agent/viewStanding.ts'
import type { AgentSummary } from '../../../../wire/src/frames.ts'
import type { Pending } from '../../../../../src/protocol/runs/pending.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const storeOf = (texts: Map<string, string>) => () => ({
  getItem: (key: string) => texts.get(key) ?? null,
  setItem: (key: string, text: string) => void texts.set(key, text),
  removeItem: (key: string) => void texts.delete(key),
})
const refused = (): never => {
  throw new Error('SecurityError')
}

describe('what a person has set the page up to', (it) => {
  it('is there again in the next page', () => {
    const [tab, browser] = [new Map<string, string>(), new Map<string, string>()]
    const stores = { tab: storeOf(tab), browser: storeOf(browser) }
    const first = new ShellChoices(stores)
    assert.equal([first.theme.value, first.details.value, first.hasHint.value], ['system', 344, true])
    first.setTheme('dark')
    first.setDetails(500.4)
    first.closeHint()
    const next = new ShellChoices(stores)
    assert.equal([next.theme.value, next.details.value, next.hasHint.value], ['dark', 500, false])
    next.setTheme('system')
    assert.is(new ShellChoices(stores).theme.value, 'system')
    // A width is the tab's, colours are the browser's.
    assert.equal([[...tab.keys()].length, [...browser.keys()].length], [1, 1])
  })

  it('lasts as long as the page where storage is refused, in each of its ways', () => {
    const choices = new ShellChoices({ tab: refused, browser: refused })
    choices.setTheme('light')
    choices.setDetails(400)
    choices.closeHint()
    assert.equal([choices.theme.value, choices.details.value, choices.hasHint.value], ['light', 400, false])
    const full = new KeptTexts(() => ({ getItem: () => null, setItem: refused, removeItem: refused }))
    full.set('token', 'abc')
    assert.is(full.get('token'), 'abc')
    full.set('token', undefined)
    assert.is(full.get('token'), undefined)
  })

  it('is made possible when somebody changed it to nonsense', () => {
    for (const [text, width] of [
      ['9', 260],
      ['9999', 720],
      ['-1', 344],
      ['wide', 344],
    ] as const) {
      const kept = storeOf(
        new Map([
          ['escapement details width', text],
          ['escapement theme', 'pink'],
        ]),
      )
      const choices = new ShellChoices({ tab: kept, browser: kept })
      assert.equal([choices.details.value, choices.theme.value], [width, 'system'])
    }
    const choices = new ShellChoices()
    choices.setDetails(1)
    assert.is(choices.details.value, 260)
  })

  it('has no hint for a page that keeps nothing', () => assert.is(new ShellChoices().hasHint.value, false))
})

const base = { v: 3, runId: 'r', turnIndex: 0 } as const
const start = (seq: number, callId: string, name: string, input: unknown, childId?: string): LogRecord => ({
  ...base,
  seq,
  time: seq * 100,
  type: 'tool.start',
  callId,
  key: callId,
  name,
  input,
  ...(childId === undefined ? {} : { childId }),
})
const end = (seq: number, callId: string): LogRecord =>
  ({ ...base, seq, time: seq * 100, type: 'tool.end', callId }) as unknown as LogRecord
const reply = (seq: number): LogRecord => ({ ...base, seq, time: seq * 100, type: 'reply.end' }) as unknown as LogRecord

describe('the calls under way', (it) => {
  const records = [
    start(1, 'a', 'old', {}),
    reply(2),
    start(3, 'b', 'run_command', { command: 'npm test' }),
    start(4, 'c', 'coder', { task: 'x' }, 'lead.1'),
    end(5, 'b'),
    end(6, 'c'),
  ]
  it('are those of the turn that have begun and not ended', () => {
    assert.equal(callsUnderWay(records, 3), { doing: 'run_command npm test', since: 300, children: [] })
    assert.equal(callsUnderWay(records, 4), {
      doing: 'run_command npm test and 1 more',
      since: 300,
      children: ['lead.1'],
    })
    assert.equal(callsUnderWay(records, 5), { doing: 'coder x', since: 400, children: ['lead.1'] })
  })
  it('are none once they have ended, and before there are any', () => {
    assert.equal([callsUnderWay(records, 6), callsUnderWay(records, 2), callsUnderWay([], 0)], [null, null, null])
  })
})

describe('where a sub-agent stands', (it) => {
  const records = [start(1, 'a', 'coder', { task: 'x' }, 'lead.1'), end(2, 'a'), start(3, 'b', 'coder', {}, 'lead.2')]
  const view: Parameters<typeof childStanding>[1] = { records, at: null, lastSeq: 3, isRunning: true }
  const unknown = { summary: undefined, hasLeft: false }
  const words = (child: string, shown = view, known: Parameters<typeof childStanding>[2] = unknown): string =>
    childStanding(child, shown, known).words
  it('is what the server says of it', () => {
    const summary = { agentId: 'lead.2', path: ['lead'], state: 'idle', pending: [] } as unknown as AgentSummary
    assert.is(words('lead.2', view, { summary, hasLeft: false }), 'idle')
  })
  it('is that it starts, while its call is under way and the server has not named it yet', () => {
    assert.equal(childStanding('lead.2', view, unknown), { standing: 'working', words: 'starting' })
    assert.is(words('lead.1'), 'ended', 'its call has ended')
    assert.is(words('lead.2', view, { summary: undefined, hasLeft: true }), 'ended', 'it has gone')
    assert.is(words('lead.2', { ...view, at: 3 }), 'ended', 'the past is shown')
    assert.is(words('lead.2', { ...view, isRunning: false }), 'ended', 'only its log is there')
  })
})

describe('what waits below an agent', (it) => {
  const one = (agentId: string, kind: Pending['kind']): Pending =>
    ({ kind, agentId, callId: 'c', key: `${agentId}/c`, name: 'n', input: {} }) as unknown as Pending
  it('is counted by kind, without its own', () => {
    const pending = [one('a', 'approval'), one('a.1', 'approval'), one('a.2', 'approval'), one('a.1', 'question')]
    assert.is(waitsBelow(pending, 'a'), '2 approvals, 1 question')
    assert.is(waitsBelow(pending.slice(0, 1), 'a'), '')
    assert.is(waitsBelow([one('b', 'call')], 'a'), '1 call')
  })
})

describe('an agent that does nothing now', (it) => {
  const run: NewestRun = { id: 'a/r0', turns: 2, limits: {}, startedAt: 1_000, endedAt: 2_500, costUsd: 0.25 }
  const ended = (last: Partial<LastRun> = {}): LastRun => ({ stopReason: 'stop', at: 2_500, ...last })
  it('says how its last run ended, and why it failed', () => {
    assert.is(restWords({ run, last: ended() }), 'last run completed · 2 turns · 1.5 s · $0.25')
    const error = { code: 'INTERNAL', message: 'no key\nwas given' } as const
    assert.is(
      restWords({ run: { ...run, turns: 1, costUsd: 0 }, last: ended({ stopReason: 'error', error }) }),
      'last run failed: no key was given · 1 turn · 1.5 s',
    )
  })
  it('does not count what people took among its work', () => {
    const took = new Map([['a/r0', { ms: 300, waitedMs: 1_200 }]])
    assert.is(restWords({ run, last: ended() }, took), 'last run completed · 2 turns · 300 ms + 1.2 s waiting · $0.25')
  })
  it('says that it has not run, and how far it had come at an earlier moment, or when it waits', () => {
    assert.is(restWords({ run: null }), 'no run yet')
    const { endedAt: _, ...open } = { ...run, costUsd: 0 }
    assert.is(restWords({ run: open }), '2 turns into a run')
    assert.is(restWords({ run: open, last: ended({ stopReason: 'paused' }) }), 'last run paused · 2 turns')
  })
})

describe('where the agent that is shown stands', (it) => {
  const records = [reply(1), start(2, 'a', 'run_command', { command: 'npm test' }, 'a.1')]
  const waits = (agentId: string) => ({ kind: 'approval', agentId }) as unknown as Pending
  const view = (rest: Partial<AgentViewState> = {}): AgentViewState =>
    ({
      agentId: 'a',
      chartState: 'executing',
      pending: [],
      records,
      at: null,
      lastSeq: records.length,
      run: { turns: 1, turnIndex: 4, limits: { turns: 60 } },
      spent: { costUsd: 2 },
      ownCostUsd: 0.5,
      ...rest,
    }) as unknown as AgentViewState
  const summary = {
    doing: 'deploy',
    treeSpent: { costUsd: 14 },
    contextTokens: { used: 9_600, window: 200_000 },
  } as unknown as AgentSummary

  it('is what its log and its server say of it, and waits only for what is its own', () => {
    assert.equal(viewStanding(view(), summary), { state: 'executing', waits: false, doing: 'run_command npm test' })
    assert.is(viewStanding(view({ pending: [waits('a.1')] }), undefined).waits, false)
    assert.is(viewStanding(view({ pending: [waits('a.1'), waits('a')] }), undefined).waits, true)
    const idle = view({ records: [], lastSeq: 0 })
    assert.equal([viewStanding(idle, summary).doing, viewStanding(idle, undefined).doing], ['deploy', undefined])
    // What its server says is of now.
    assert.is(viewStanding(view({ at: 1 }), summary).doing, undefined)
  })

  it('costs what it spent itself, and what its tree has spent by now', () => {
    assert.equal(costsOf(view(), summary), { own: 0.5, tree: 14 })
    assert.equal(costsOf(view({ at: 1 }), summary), { own: 0.5, tree: 2 })
    assert.equal(costsOf(view(), undefined), { own: 0.5, tree: 2 })
  })

  it('says since when it does what it does, also when the clock was put back', () => {
    assert.equal(viewNow(view(), summary, 1_600), {
      doing: 'runs run_command npm test',
      turnIndex: 4,
      forMs: 1_400,
      children: 1,
      contextTokens: { used: 9_600, window: 200_000 },
      costUsd: 14,
      limits: { turns: 60 },
    })
    assert.is(viewNow(view(), undefined, -9_000).forMs, 0)
    const early = view({ records: [], lastSeq: 0, run: null })
    assert.equal(viewNow(early, undefined, 5), { doing: 'runs tools', costUsd: 2 })
  })
})
