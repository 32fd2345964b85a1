import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { resultsOf, saidIn, tool } from '../support/agentHarness.ts'
import { asks, caller, ends, Lives, paused, types, until } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'
import { heldCalls } from '../support/heldCalls.ts'

describe('an agent that waited for people when its process died', (it) => {
  const definition = (ran: string[], names = ['pay'], rest: Partial<AgentOptions> = {}, requests?: ModelRequest[]) =>
    defineAgent({ name: 'payer', model: caller(names, requests), tools: names.map((name) => asks(name, ran)), ...rest })

  it('waits again, in the same run, and its log is as it was, however often it dies', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(definition([]), 'pay them')
    await paused(first.agent)
    const left = await first.logs()
    let logs = left
    for (let life = 0; life < 3; life += 1) {
      const { agent, ...next } = await lives.resume(definition([]), logs)
      assert.is(agent.state, 'paused')
      assert.equal(agent.pause, first.agent.pause)
      assert.equal(heldCalls(agent), heldCalls(first.agent))
      assert.equal(agent.approvals(), first.agent.approvals())
      logs = await next.logs()
      assert.equal(logs, left)
    }
    const ran: string[] = []
    const last = await lives.resume(definition(ran), logs)
    const ended = ends(last.agent)
    last.agent.decide(heldCalls(last.agent)[0]!, 'approve')
    await ended
    assert.equal(ran, ['pay'])
    const after = (await last.logs())['a1']!
    assert.equal(
      types(after).filter((type) => type === 'run.start' || type === 'run.end'),
      ['run.start', 'run.end'],
    )
    const end = after.at(-1)!
    assert.ok(end.type === 'run.end')
    assert.equal([end.runId, end.stopReason, end.turns], ['a1/r0', 'stop', 2])
  })

  it('takes a decision that is made at once', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(definition([]), 'pay them')
    await paused(first.agent)
    const ran: string[] = []
    const { agent } = await lives.resume(definition(ran), await first.logs())
    agent.decide(heldCalls(agent)[0]!, 'approve')
    await ends(agent)
    assert.equal(ran, ['pay'])
  })

  for (const options of [{}, { continue: false }])
    it(`lets a prompt wait, and denies nothing that nobody denied, ${JSON.stringify(options)}`, async (context) => {
      const lives = new Lives(context)
      const first = await lives.begin(definition([]), 'pay them')
      await paused(first.agent)
      const ran: string[] = []
      const requests: ModelRequest[] = []
      const { agent } = await lives.resume(definition(ran, ['pay'], {}, requests), await first.logs(), options)
      const later = agent.prompt('and now?')
      assert.is(agent.state, 'paused')
      agent.decide(heldCalls(agent)[0]!, 'approve')
      await later.result
      assert.equal(ran, ['pay'])
      assert.equal(resultsOf(requests[0]), ['pay done'])
      assert.equal(saidIn(requests.at(-1)), ['pay them', 'and now?'])
    })

  it('may be told to stop waiting: by an abort, or by something new', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(definition([]), 'pay them')
    await paused(first.agent)
    const logs = await first.logs()

    const aborted = await lives.resume(definition([]), logs)
    const abortEnd = ends(aborted.agent)
    aborted.agent.abort()
    await abortEnd
    assert.is((await aborted.logs())['a1']!.at(-1)!.type, 'run.end')
    assert.is(aborted.agent.state, 'idle')

    const requests: ModelRequest[] = []
    const steered = await lives.resume(definition([], ['pay'], {}, requests), logs)
    const steerEnd = ends(steered.agent)
    steered.agent.steer('leave it')
    await steerEnd
    assert.match(resultsOf(requests[0])[0]!, /^Skipped/)
    assert.equal(saidIn(requests[0]), ['pay them', 'leave it'])
  })

  it('has as much time left as when it began to wait', async (context) => {
    const lives = new Lives(context)
    const timed = (ran: string[]) => definition(ran, ['pay', 'tell'], { limits: { ms: 1_000 } })
    const first = await lives.begin(timed([]), 'pay them')
    await paused(first.agent)
    // Time that people take counts neither before the crash …
    await lives.clock.advance(10_000)
    first.agent.decide(heldCalls(first.agent)[0]!, 'approve')
    await until(first.agent, ({ type }) => type === 'tool.end')
    await paused(first.agent)
    await lives.clock.advance(10_000)
    first.agent.prompt('later')
    const logs = await first.logs()

    // … nor while nothing runs, nor after it.
    await lives.clock.advance(10_000)
    const telling = Promise.withResolvers<string>()
    const slow = defineAgent({
      name: 'payer',
      model: caller(['pay', 'tell']),
      tools: [asks('pay'), tool('tell', () => telling.promise, { needsApproval: true })],
    })
    const { agent } = await lives.resume(slow, logs)
    assert.is(agent.state, 'paused')
    await lives.clock.advance(10_000)
    const ended = ends(agent)
    agent.decide(heldCalls(agent)[0]!, 'approve')
    await lives.clock.advance(999)
    telling.resolve('told')
    await ended
    assert.is(agent.pause, null)
  })

  it('pauses when the time that was left is used up', async (context) => {
    const lives = new Lives(context)
    const slow = (open?: Promise<string>) =>
      defineAgent({
        name: 'payer',
        model: caller(['pay']),
        tools: [tool('pay', () => open ?? 'paid', { needsApproval: true })],
        limits: { ms: 1_000 },
      })
    const first = await lives.begin(slow(), 'pay them')
    await paused(first.agent)
    await lives.clock.advance(5_000)
    const paying = Promise.withResolvers<string>()
    const { agent } = await lives.resume(slow(paying.promise), await first.logs())
    agent.decide(heldCalls(agent)[0]!, 'approve')
    await lives.clock.advance(999)
    assert.is(agent.state, 'executing')
    await lives.clock.advance(1)
    const ended = ends(agent)
    paying.resolve('paid')
    await ended
    assert.equal(agent.pause, { type: 'limit', limit: 'ms', allowed: 1_000, used: 1_000 })
  })
})

describe('an agent that died with several calls open', (it) => {
  const several = (ran: string[], rest: Partial<AgentOptions> = {}) =>
    defineAgent({
      name: 'several',
      model: caller(['one', 'two', 'three']),
      tools: ['one', 'two', 'three'].map((name) => asks(name, ran)),
      ...rest,
    })

  it('waits for the decisions that were not made', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(several([]), 'go')
    await paused(first.agent)
    const [one, two, three] = heldCalls(first.agent)
    first.agent.decide(two!, 'deny', 'not now')
    const logs = await first.logs()
    const ran: string[] = []
    const { agent, ...next } = await lives.resume(several(ran), logs)
    assert.equal(await next.logs(), logs)
    assert.equal(heldCalls(agent), [one, three])
    agent.decide(three!, 'approve')
    agent.decide(one!, 'approve')
    await ends(agent)
    assert.equal(ran.toSorted(), ['one', 'three'])
  })

  it('begins what was approved, and waits for the rest at once', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(several([]), 'go')
    await paused(first.agent)
    const [one, two, three] = heldCalls(first.agent)
    first.agent.decide(two!, 'approve')
    const logs = await first.logs()
    // It died between the decision and the start that follows it.
    const decided = logs['a1']!.findIndex(({ type }) => type === 'approval.decided')
    const ran: string[] = []
    const { agent } = await lives.resume(several(ran), { a1: logs['a1']!.slice(0, decided + 1) })
    assert.equal(heldCalls(agent), [one, three])
    agent.prompt('and now?')
    agent.decide(one!, 'approve')
    agent.decide(three!, 'approve')
    await ends(agent, 2)
    assert.equal(ran.toSorted(), ['one', 'three', 'two'])
  })

  it('answers the one that ran as interrupted, once, and waits for the others in the same run', async (context) => {
    const lives = new Lives(context)
    const mixed = (ran: string[], work: () => unknown) =>
      defineAgent({ name: 'mixed', model: caller(['pay', 'work']), tools: [asks('pay', ran), tool('work', work)] })
    const first = await lives.begin(
      mixed([], () => new Promise(() => {})),
      'go',
    )
    await until(first.agent, ({ type }) => type === 'tool.start')
    const logs = await first.logs()
    const second = await lives.resume(
      mixed([], () => 'again'),
      logs,
    )
    assert.is(second.agent.state, 'paused')
    const once = await second.logs()
    assert.equal(types(once['a1']!.slice(logs['a1']!.length)), ['tool.end'])
    const ran: string[] = []
    const third = await lives.resume(
      mixed(ran, () => 'again'),
      once,
    )
    assert.equal(await third.logs(), once)
    const ended = ends(third.agent)
    third.agent.decide(heldCalls(third.agent)[0]!, 'approve')
    await ended
    assert.equal(ran, ['pay'])
  })

  it('runs again what may run again, while a person is asked, and lets a prompt wait', async (context) => {
    const lives = new Lives(context)
    const mixed = (ran: string[], work: () => unknown) =>
      defineAgent({
        name: 'mixed',
        model: caller(['pay', 'work']),
        tools: [asks('pay', ran), tool('work', work, { effects: 'none' })],
      })
    const first = await lives.begin(
      mixed([], () => new Promise(() => {})),
      'go',
    )
    await until(first.agent, ({ type }) => type === 'tool.start')
    const logs = await first.logs()
    for (const options of [{}, { continue: false }]) {
      const ran: string[] = []
      const { agent } = await lives.resume(
        mixed(ran, () => ran.push('work')),
        logs,
        options,
      )
      const asked = agent.prompt('and now?')
      if (options.continue === false) {
        assert.is(agent.state, 'paused')
        agent.resume()
        await until(agent, (event) => event.type === 'run.start')
      }
      agent.decide(heldCalls(agent)[0]!, 'approve')
      assert.is((await asked.result).stopReason, 'stop')
      assert.equal(ran.toSorted(), ['pay', 'work'])
    }
  })

  it('waits for the first of calls that are made one after the other', async (context) => {
    const lives = new Lives(context)
    const inTurn = (ran: string[]) =>
      defineAgent({
        name: 'inTurn',
        model: caller(['pay', 'work']),
        tools: [asks('pay', ran), tool('work', () => ran.push('work'))],
        toolExecution: 'sequential',
      })
    const first = await lives.begin(inTurn([]), 'go')
    await paused(first.agent)
    const logs = await first.logs()
    const ran: string[] = []
    const { agent, ...next } = await lives.resume(inTurn(ran), logs)
    assert.is(agent.state, 'paused')
    assert.equal(await next.logs(), logs)
    agent.decide(heldCalls(agent)[0]!, 'approve')
    await ends(agent)
    assert.equal(ran, ['pay', 'work'])
  })
})

describe('an agent whose sub-agent waits for people', (it) => {
  const family = (ran: string[]) => {
    const worker = defineAgent({
      name: 'worker',
      description: 'Pays.',
      model: caller(['pay']),
      tools: [asks('pay', ran)],
    })
    const lead = defineAgent({ name: 'lead', description: 'Leads.', model: leadModel('worker'), agents: [worker] })
    return defineAgent({ name: 'head', model: leadModel('lead'), agents: [lead] })
  }
  const leadModel = (name: string) =>
    policyModel(({ messages }) =>
      messages.some(({ role }) => role === 'toolResult')
        ? 'all done'
        : { toolCalls: [{ name, input: { task: 'pay' } }] },
    )

  it('can be decided for as soon as it is resumed, however often it died, and has its answer', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(family([]), 'go')
    await until(first.agent, ({ type }) => type === 'approval.requested')
    const asked = first.agent.approvals()
    let logs = await first.logs()
    for (let life = 0; life < 2; life += 1) {
      const next = await lives.resume(family([]), logs)
      assert.equal(next.agent.approvals(), asked)
      const later = await next.logs()
      assert.equal(later['a1.1.1'], logs['a1.1.1'])
      logs = later
    }
    const ran: string[] = []
    const { agent, ...last } = await lives.resume(family(ran), logs)
    agent.prompt('and now?')
    const ended = ends(agent)
    agent.decide(asked[0]!.key, 'approve')
    await ended
    assert.equal(ran, ['pay'])
    const below = (await last.logs())['a1.1.1']!
    assert.equal(
      types(below).filter((type) => type === 'run.start' || type === 'run.end'),
      ['run.start', 'run.end'],
    )
    const answers = Object.values(await last.logs()).flatMap((log) =>
      log.flatMap((record) => (record.type === 'tool.end' ? [textOf(record.message.content)] : [])),
    )
    assert.equal(answers.toSorted(), ['all done', 'done', 'pay done'])
  })
})
