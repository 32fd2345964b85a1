import { coloursFor } from '../src/terminal/colours.ts'
import { eventPrinter } from '../src/terminal/eventPrinter.ts'
import { pauseText } from '../src/terminal/sessionText.ts'
import { statusText, StatusLine } from '../src/terminal/statusLine.ts'
import { plainScreen } from '../src/terminal/screen.ts'
import type { AgentEvent } from '../../../src/index.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('events at a terminal', (it) => {
  it('tell a failure once, and another one that ends the run too', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const error = { code: 'MODEL_AUTH', message: 'No key.' }
    const end = { type: 'run.end', stopReason: 'error', turns: 1, usage, costUsd: 0 }
    print({ type: 'error', error } as unknown as AgentEvent)
    print({ ...end, error } as unknown as AgentEvent)
    print({ ...end, error } as unknown as AgentEvent)
    const facts = '· 1 turn · 2 tokens · cost –'
    const said = 'No key. (MODEL_AUTH)'
    assert.is(printed, `! ${said}\n✗ failed ${facts}\n✗ failed: ${said} ${facts}\n`)
  })

  it('name a call by its key: one of a sub-agent may have the same id', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const call = (agentId: string, name: string) => ({
      agentId,
      callId: 'c',
      key: `${agentId}/t0/tool/c`,
      name,
      input: {},
    })
    const message = { content: [{ type: 'text', text: 'done' }], isError: false }
    print({ type: 'tool.start', ...call('a', 'coder') } as unknown as AgentEvent)
    print({ type: 'approval.requested', ...call('a.1', 'pay') } as unknown as AgentEvent)
    print({ type: 'tool.end', ...call('a', 'coder'), message, attempts: 1, ms: 1 } as unknown as AgentEvent)
    assert.match(printed, '✓ coder ')
  })

  it('say what a fold and a prune hide and save, and why one was refused', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const economics = { freed: 1_240, rewritten: 100, paysAfter: 3 }
    const prune = { type: 'prune.applied', applied: true, steps: [2, 4], tokens: 1_400 }
    print({ ...prune, by: 'runtime', economics } as unknown as AgentEvent)
    print({ ...prune, steps: [6] } as unknown as AgentEvent)
    print({ ...prune, masked: true } as unknown as AgentEvent)
    print({ ...prune, applied: false, steps: [], reason: 'n6 is pinned' } as unknown as AgentEvent)
    assert.is(
      printed,
      '  folded: 2 steps · frees 1,240 tokens, pays after 3 requests\n  hidden: 1 step\n  output hidden: 2 steps\n  n6 is pinned\n',
    )
  })

  it('have the whole line that stands in place of an answer that a guard refused, after what was streamed of it', () => {
    const withheld = { at: 'output', guard: 'noNames', reason: 'no names.', content: [] }
    const line = '[This answer was withheld by the application: no names.]'
    const end = { type: 'reply.end', message: { content: [{ type: 'text', text: line }] }, withheld }
    const printedOf = (...events: object[]): string => {
      let printed = ''
      const screen = plainScreen({ write: (text) => (printed += text) })
      const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
      for (const event of events) print(event as AgentEvent)
      return printed
    }
    const delta = { type: 'reply.delta', text: 'It was Ann.', offset: 0 }
    assert.is(printedOf({ type: 'reply.start' }, delta, end), `It was Ann.\n${line}\n`)
    assert.is(printedOf({ type: 'reply.start' }, end), `${line}\n`)
  })

  it('say which policy hid something, what asking it took, and nothing of one that found nothing by itself', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const usage = { input: 900, output: 100, cacheRead: 0, cacheWrite: 0 }
    const end = { type: 'policy.end', policy: 'tidy', outcome: 'planned', costUsd: 0 }
    print({ ...end, reason: 'old', usage, costUsd: 0.002 } as unknown as AgentEvent)
    print({
      type: 'prune.applied',
      applied: true,
      steps: [2],
      tokens: 9,
      policy: 'ti\u001B[2Jdy',
    } as unknown as AgentEvent)
    print({ ...end, outcome: 'nothing' } as unknown as AgentEvent)
    print({ ...end, policy: 'ti\u001B[2Jdy', outcome: 'failed', reason: 'no idea' } as unknown as AgentEvent)
    assert.is(
      printed,
      '  policy tidy has a plan: old · asking took 1,000 tokens, $0.0020\n  hidden: 1 step, by policy tidy\n  policy tidy failed: no idea\n',
    )
  })

  it('show below the text which policy decides, as long as it does', () => {
    const shown: string[] = []
    const screen = {
      ...plainScreen({ write: () => {} }),
      setStatus: (text: string | undefined) => void shown.push(text ?? ''),
    }
    const status = new StatusLine(screen, coloursFor({}, {}), simulatedClock())
    for (const event of [
      { type: 'run.start', limits: {} },
      { type: 'state.changed', state: 'draining.consulting' },
      { type: 'policy.start', policy: 'tidy' },
      { type: 'policy.end', policy: 'tidy' },
      { type: 'model.waiting', model: 'p:m\n', why: 'concurrency', ahead: 2 },
      { type: 'model.waited', model: 'p:m', ms: 5 },
    ])
      status.see(event as unknown as AgentEvent)
    status.close()
    assert.equal(shown.slice(-5), [
      '● asks policy tidy · Ctrl-C to stop',
      '● asks a policy · Ctrl-C to stop',
      '● waiting for p:m: all its calls are under way, 2 ahead · Ctrl-C to stop',
      '● asks a policy · Ctrl-C to stop',
      '',
    ])
  })

  it('show below the text what it does, for how long, with how much, and when it waits for a person', async () => {
    const shown: string[] = []
    const screen = {
      ...plainScreen({ write: () => {} }),
      setStatus: (text: string | undefined) => void shown.push(text ?? ''),
    }
    const clock = simulatedClock()
    const status = new StatusLine(screen, coloursFor({}, {}), clock)
    const last = (...events: readonly object[]): string => {
      for (const event of events) status.see(event as AgentEvent)
      return shown.at(-1)!
    }
    const usage = { input: 9_000, output: 600, cacheRead: 0, cacheWrite: 0 }
    const call = { callId: 'c', key: 'a/c', name: 'run_command', input: { command: 'npm test\u001B[2J' } }
    const turn = { type: 'turn.start', turnIndex: 2 }
    assert.is(
      last({ type: 'run.start', limits: {} }, turn, { type: 'state.changed', state: 'replying.streaming' }),
      '● turn 3 · writing · Ctrl-C to stop',
    )
    last({ type: 'reply.end', costUsd: 0.27, message: { usage } }, { type: 'state.changed', state: 'executing' })
    assert.is(
      last({ type: 'tool.start', ...call }),
      '● turn 3 · runs run_command npm test · 9.6K context · $0.27 · Ctrl-C to stop',
    )
    await clock.advance(1_400)
    assert.match(shown.at(-1)!, 'npm test · 1.0 s · 9.6K')
    assert.match(last({ type: 'tool.start', ...call, callId: 'd', childId: 'a2' }), ' · 1 sub-agent · ')
    assert.match(
      last({ type: 'question.asked', agentId: 'a', ...call, key: 'a/c/1', question: 'q', schema: {} }),
      ' · waits for you · ',
    )
    assert.match(
      last({ type: 'tool.end', ...call, spent: { costUsd: 0.03, usage, turns: 1 } }),
      / · runs run_command npm test · .*\$0\.30/,
    )
  })

  it('show below the text what each sub-agent does, as far as it fits', () => {
    const shown: string[] = []
    const columns = { columns: 110 }
    const screen = {
      ...plainScreen({ write: () => {} }),
      ...columns,
      setStatus: (text: string | undefined) => void shown.push(text ?? ''),
    }
    let below = ['coder writing', 'releaser waits for you']
    const status = new StatusLine(screen, coloursFor({}, {}), simulatedClock(), 'Esc to stop', { below: () => below })
    const call = (name: string) => ({
      type: 'tool.start',
      callId: name,
      key: `a/${name}`,
      name,
      input: {},
      childId: `a.${name}`,
    })
    const see = (...events: readonly object[]): string => {
      for (const event of events) status.see(event as AgentEvent)
      return shown.at(-1)!
    }
    see({ type: 'run.start', limits: {} }, { type: 'state.changed', state: 'executing' })
    const both = see(call('coder'), call('releaser'))
    assert.match(both, '2 sub-agents: coder writing, releaser waits for you · Esc to stop')
    below = ['coder runs tools', 'releaser getting ready for all that is to come of it']
    assert.match(see({ type: 'state.changed', state: 'executing' }), / · 2 sub-agents · Esc to stop$/)
    status.close()
  })

  it('show below the text how far the plan of the state is, its words before the rest of the line', () => {
    const shown: string[] = []
    let columns = 100
    const screen = {
      ...plainScreen({ write: () => {} }),
      setStatus: (text: string | undefined) => void shown.push(text ?? ''),
      get columns() {
        return columns
      },
    }
    const step = (text: string, done: boolean) => ({ text, done })
    let state: unknown
    const facts = { appState: () => state }
    const status = new StatusLine(screen, coloursFor({}, {}), simulatedClock(), 'Esc to stop', facts)
    const drawn = (next: unknown, wide = 100): string => {
      state = next
      columns = wide
      status.see({ type: 'state.changed', state: 'replying.streaming' } as AgentEvent)
      return shown.at(-1)!
    }
    status.see({ type: 'run.start', limits: { turns: 60 } } as unknown as AgentEvent)
    const plan = { title: 'x', steps: { a: step('Look', true), b: step('Write the\ntests\u001B[2J', false) } }
    assert.is(drawn(plan), '● writing · plan 2/2: Write the tests · limit 0 of 60 turns · Esc to stop')
    assert.is(drawn(plan, 60), '● writing · plan 2/2: Write the tests · Esc to stop')
    assert.is(drawn(plan, 49), '● writing · plan 2/2: Write the t… · Esc to stop')
    assert.is(drawn(plan, 40), '● writing · plan 2/2 · Esc to stop')
    assert.is(drawn(plan, 30), '● writing · Esc to stop')
    for (const none of [undefined, null, 5, {}, { steps: [] }, { steps: [5] }, { steps: [{ text: 'x' }] }])
      assert.is(drawn(none), '● writing · limit 0 of 60 turns · Esc to stop')
    const todos = [
      { content: 'a', status: 'completed' },
      { content: 'b', status: 'pending' },
      { content: 'c'.repeat(60), status: 'in_progress' },
    ]
    assert.match(drawn({ todos }), `plan 3/3: ${'c'.repeat(39)}… ·`)
    assert.match(drawn({ plan: { steps: [step('a', true), step('b', true)] } }), ' · plan 2/2 · ')
    status.close()
  })

  it('show below the text how much the model takes, and the limit that is nearest', async () => {
    const shown: string[] = []
    const screen = {
      ...plainScreen({ write: () => {} }),
      setStatus: (text: string | undefined) => void shown.push(text ?? ''),
    }
    const clock = simulatedClock()
    const status = new StatusLine(screen, coloursFor({}, {}), clock, 'Esc to stop', { window: () => 200_000 })
    const see = (...events: readonly object[]): string => {
      for (const event of events) status.see({ time: clock.now(), ...event } as AgentEvent)
      return shown.at(-1)!
    }
    const limits = { turns: 60, costUsd: 5, ms: 100_000 }
    const usage = { input: 9_000, output: 600, cacheRead: 0, cacheWrite: 0 }
    const turn = [
      { type: 'turn.start', turnIndex: 0 },
      { type: 'state.changed', state: 'replying.streaming' },
    ]
    assert.match(see({ type: 'run.start', limits }, ...turn), 'writing · limit 0 of 60 turns · Esc')
    const replied = { type: 'reply.end', costUsd: 0.27, message: { usage } }
    assert.match(see(replied), '· 9.6K of 200K context · $0.27 · limit $0.27 of $5.00 · Esc')
    const call = { callId: 'c', key: 'a/c', name: 'ask', input: {} }
    const spent = { turns: 30, costUsd: 0, usage }
    assert.match(
      see({ type: 'tool.start', ...call }, { type: 'tool.end', ...call, spent }),
      '· limit 31 of 60 turns · Esc',
    )
    await clock.advance(70_000)
    assert.match(shown.at(-1)!, '· limit 1 min 10 s of 1 min 40 s · Esc')
    see({ type: 'run.end' })
    assert.match(
      see({ type: 'run.start', limits: { tokens: 10_000 } }, ...turn, replied),
      '· limit 9.6K of 10K tokens · Esc',
    )
  })

  it('show below the text as much as there is room for', () => {
    const contextTokens = { used: 9_600, window: 200_000 }
    const facts = { turnIndex: 0, doing: 'runs run_command npm test', costUsd: 0.27, contextTokens }
    const near = { ...facts, forMs: 1_400, nearest: '12 of 60 turns' }
    assert.equal(
      [120, 100, 80, 49].map((columns) => statusText(near, 'Esc to stop', columns)),
      [
        '● turn 1 · runs run_command npm test · 1.4 s · 9.6K of 200K context · $0.27 · limit 12 of 60 turns · Esc to stop',
        '● turn 1 · runs run_command npm test · 1.4 s · 9.6K of 200K context · $0.27 · Esc to stop',
        '● turn 1 · runs run_command npm test · 1.4 s · Esc to stop',
        '● turn 1 · runs run_command npm test',
      ],
    )
    const shown = [80, 50, 30].map((columns) => statusText(facts, 'Esc to stop', columns))
    assert.equal(shown, [
      '● turn 1 · runs run_command npm test · 9.6K of 200K context · Esc to stop',
      '● turn 1 · runs run_command npm test · Esc to stop',
      '● turn 1 · runs run_command npm test',
    ])
  })

  it('say once that a call was denied, and name a step that was set aside alone', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const ended = (synthetic: string, text: string): AgentEvent => {
      const message = { isError: true, synthetic, content: [{ type: 'text', text }] }
      return { type: 'tool.end', key: 'k', name: 'pay', message, attempts: 1, ms: 1 } as unknown as AgentEvent
    }
    print(ended('denied', 'Denied by the user: it was not run. Reason: no'))
    print(ended('skipped', 'The user said something first.'))
    const reverted = { type: 'revert.applied', applied: true, target: 3, category: 'failure' }
    print({ ...reverted, tag: { abandoned: [4] } } as unknown as AgentEvent)
    print({ ...reverted, tag: { abandoned: [4, 5, 6] } } as unknown as AgentEvent)
    assert.is(
      printed,
      '  ✗ pay · Denied by the user: it was not run. Reason: no\n  ✗ pay · skipped: The user said something first.\n' +
        '  ↩ back to n3 (failure): n4 set aside\n  ↩ back to n3 (failure): n4–n6 set aside\n',
    )
  })

  it('break the lines at words where the screen is a terminal, and leave alone what is still to grow', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) }, 12)
    screen.write('  one two three\n')
    screen.write('four five six se')
    screen.write('ven eight nine\n')
    assert.is(printed, '  one two\n  three\nfour five six seven eight nine\n')
  })

  it('say that an agent goes in circles, and that it was paused for it', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const evidence = 'the same call with the same result 3 times: look\u001B[2J'
    print({ type: 'stall.detected', evidence, rung: 'pause' } as unknown as AgentEvent)
    const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
    const reason = { type: 'stall', rule: 'repeat', first: 2, target: 1, evidence } as const
    print({ type: 'run.end', stopReason: 'paused', turns: 3, usage, costUsd: 0, reason } as unknown as AgentEvent)
    assert.match(printed, /^ {2}↻ in circles: the same call with the same result 3 times: look.*\n/)
    assert.match(printed, '✗ paused: it went in circles: the same call with the same result 3 times: look')
    assert.not.match(printed, '\u001B')
    assert.is(
      pauseText(reason).replace(/look.*/, 'look'),
      'it went in circles: the same call with the same result 3 times: look',
    )
  })
})
