import { z } from 'zod'
import type { RemoteAgentEntry } from '../../../src/actors/parts/remote/remoteEntry.ts'
import type { RemoteHost, RemoteRequest } from '../src/remoteAgent.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { Lives, paused, until } from '../../../test/support/lives.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { callerOf, elsewhere, recordsOf } from './fakeAgent.ts'

const usage = { input: 900, output: 100, cacheRead: 0, cacheWrite: 0 }

async function begin(context: CaseContext, entry: RemoteAgentEntry, options: Partial<AgentOptions> = {}) {
  const lives = new Lives(context)
  const life = await lives.begin(callerOf(entry, options), 'go')
  const { agent, logs } = life
  return {
    ...life,
    clock: lives.clock,
    said: () => textOf(agent.conversation.trunk().at(-1)!.message.content),
    log: async () => (await logs())['a1']!,
    over: () => (agent.state === 'idle' ? Promise.resolve() : until(agent, ({ type }) => type === 'run.end')),
    /** Lets time pass until the run is over. */
    async pass(ms: number) {
      const ended = agent.state === 'idle' ? Promise.resolve() : until(agent, ({ type }) => type === 'run.end')
      const over = new AbortController()
      void ended.then(() => over.abort())
      while (!over.signal.aborted) {
        await lives.clock.advance(ms)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

const edit: RemoteRequest = {
  names: ['codex_edit', 'edit_file'],
  effects: 'irreversible',
  subject: { path: 'src/clock.ts' },
  input: { title: 'Edit src/clock.ts' },
}

/** Asks to edit a file, and says what it was told. */
const asking = (request: RemoteRequest = edit): RemoteAgentEntry =>
  elsewhere(async (_, { permit }) => {
    const permission = await permit(request)
    return { text: permission.ok ? 'edited' : `not edited: ${permission.reason}` }
  })

describe('an agent elsewhere', (it) => {
  it('gets a task with its input, notes it, tells of its work, and answers', async (context) => {
    const entry = elsewhere(
      async ({ text, key, handle }, host) => {
        assert.is(handle, undefined)
        await host.note('s1', { session: 's1', key })
        host.update('tool', 'Edit src/clock.ts')
        host.changed('src/clock.ts')
        host.used({ usage, costUsd: 0.5, turns: 2 })
        return { text: `done: ${text}`, data: { files: 1 } }
      },
      { input: z.object({ urgent: z.boolean().default(true) }) },
    )
    const { over, said, log, agent } = await begin(context, entry)
    await over()
    assert.is(said(), 'It said: done: Fix the clock\n\n{\n  "urgent": true\n}')
    const records = await log()
    const [noted] = recordsOf(records, 'child.noted')
    assert.equal(
      { ...noted, v: 0, seq: 0, time: 0 },
      {
        v: 0,
        seq: 0,
        time: 0,
        type: 'child.noted',
        runId: noted!.runId,
        turnIndex: 0,
        callId: noted!.callId,
        key: noted!.key,
        name: 'codex',
        childId: 's1',
        protocol: 'fake',
        handle: { session: 's1', key: noted!.key },
      },
    )
    assert.equal(
      recordsOf(records, 'child.update').map(({ kind, text, childId }) => [kind, text, childId]),
      [['tool', 'Edit src/clock.ts', 's1']],
    )
    const [end] = recordsOf(records, 'tool.end')
    assert.equal([end!.data, end!.message.changed, end!.spent?.turns], [{ files: 1 }, ['src/clock.ts'], 2])
    const [run] = recordsOf(records, 'run.end')
    assert.ok(run!.usage.input >= 900 && run!.costUsd >= 0.5, 'it counts towards the run')
    assert.is(agent.state, 'idle')
  })

  it('is told what is wrong with the arguments by its schema, and does not begin', async (context) => {
    const { over, said } = await begin(
      context,
      elsewhere(() => Promise.reject(new Error('it began')), { input: z.object({ to: z.string() }) }),
    )
    await over()
    assert.match(said(), /to: /)
    assert.not.match(said(), /it began/)
  })

  it('tells at most four records a second, each below 16 kB, and all of it in the end', async (context) => {
    const entry = elsewhere(async (_, host) => {
      for (let n = 0; n < 2_000; n++) host.update('text', 'ö'.repeat(40))
      host.update('tool', 'first')
      host.update('tool', 'second')
      return { text: 'ok' }
    })
    const { over, log } = await begin(context, entry)
    await over()
    const updates = recordsOf(await log(), 'child.update')
    assert.equal(
      updates.map(({ kind }) => kind),
      ['text', 'text', 'tool'],
    )
    for (const { text } of updates) assert.ok(Buffer.byteLength(text) < 16_000)
    assert.match(updates[1]!.text, /characters left out/)
    assert.is(updates[2]!.text, 'first\nsecond')
  })

  it('cannot flood the log', async (context) => {
    const entry = elsewhere(async (_, host) => {
      for (let n = 0; n < 400; n++) {
        host.update('text', 'x'.repeat(20_000))
        await new Promise((resolve) => host.clock.after(250, () => resolve(undefined)))
      }
      return { text: 'ok' }
    })
    const { pass, log } = await begin(context, entry)
    await pass(250)
    const updates = recordsOf(await log(), 'child.update')
    assert.ok(updates.length < 210, `${updates.length}`)
    assert.match(updates.at(-1)!.text, /Further updates are not kept/)
  })
})

describe('something that an agent elsewhere asks to be allowed', (it) => {
  for (const [decision, answer] of [
    ['approve', 'It said: edited'],
    ['deny', 'It said: not edited: Denied by the user: not today'],
  ] as const)
    it(`is put to people, and they ${decision} it`, async (context) => {
      const { agent, over, said, log } = await begin(context, asking())
      await paused(agent)
      const [pending] = agent.pending()
      assert.equal([pending!.kind, pending!.name], ['approval', 'codex_edit'])
      agent.decide(pending!.key, decision, 'not today')
      await over()
      assert.is(said(), answer)
      const [asked] = recordsOf(await log(), 'approval.requested')
      assert.is(asked!.parentCall, recordsOf(await log(), 'tool.start')[0]!.callId)
    })

  for (const [what, permissions, answer] of [
    ['a rule about its own name', { allow: ['codex_edit(src/**)'] }, /^It said: edited$/],
    ['a rule about the tool of a workspace', { allow: ['edit_*'] }, /^It said: edited$/],
    ['a rule that denies', { allow: ['codex_edit'], deny: ['edit_*'] }, /rule "edit_\*" denies it/],
    ['a rule for another folder, where nobody is asked', { mode: 'refuse', allow: ['codex_edit(test/**)'] }, /nobody/],
    ['the mode auto', { mode: 'auto' }, /^It said: edited$/],
  ] as const)
    it(`is decided by ${what}`, async (context) => {
      const { over, said, log } = await begin(context, asking(), { permissions })
      await over()
      assert.match(said(), answer)
      assert.is(recordsOf(await log(), 'approval.requested').length, 0)
    })

  it('is asked about again only until people have said that it holds for the session', async (context) => {
    let asks = 0
    const entry = elsewhere(async (_, { permit }) => {
      for (; asks < 3; asks++) await permit(edit)
      return { text: 'ok' }
    })
    const { agent, over, log } = await begin(context, entry, {
      permissions: { ask: ['edit_*'] },
    })
    await paused(agent)
    const [pending] = agent.pending()
    const rule = pending!.kind === 'approval' ? pending!.suggest![0]! : ''
    assert.is(rule, 'codex_edit(src/clock.ts)')
    agent.decide(pending!.key, 'approve', { grant: { rule, scope: 'session' } })
    await over()
    assert.is(recordsOf(await log(), 'approval.requested').length, 1)
  })

  it('does not come up in plan mode: the agent is not called', async (context) => {
    const { over, said } = await begin(context, asking(), { permissions: { mode: 'plan' } })
    await over()
    assert.match(said(), /Plan mode/)
  })
})

const crash = (message: string): RuntimeError => new RuntimeError('CHILD_CRASHED', message)

describe('an agent elsewhere that crashes', (it) => {
  it('is begun again with what it noted, after a wait that doubles', async (context) => {
    const begun: { at: number; handle: unknown }[] = []
    const entry = elsewhere(async ({ handle }, host) => {
      begun.push({ at: host.clock.now(), handle })
      if (begun.length === 1) await host.note('s1', { session: 's1' })
      if (begun.length < 4) throw crash('Its process was killed.')
      return { text: 'at last' }
    })
    const { pass, said, log } = await begin(context, entry)
    await pass(1)
    assert.is(said(), 'It said: at last')
    assert.equal(
      begun.map(({ handle }) => handle),
      [undefined, { session: 's1' }, { session: 's1' }, { session: 's1' }],
    )
    const waits = begun.slice(1).map(({ at }, index) => at - begun[index]!.at)
    assert.ok(
      [10, 20, 40].every((least, index) => waits[index]! >= least && waits[index]! < least + 9),
      waits.join(),
    )
    const texts = recordsOf(await log(), 'child.update').map(({ text }) => text)
    assert.match(texts.join('\n'), /Its process was killed\..*It is begun again/)
  })

  it('is given up after as many restarts as it may have, with the reason', async (context) => {
    let lives = 0
    const entry = elsewhere(
      () => {
        lives += 1
        return Promise.reject(crash(`Crash ${lives}.`))
      },
      { restarts: { restart: 'transient', maxRestarts: 2, windowMs: 60_000, backoffMs: 0 } },
    )
    const { pass, said } = await begin(context, entry)
    await pass(1)
    assert.is(lives, 3)
    assert.match(said(), /begun anew 2 times, and crashed each time\. The last time: Crash 3\./)
  })

  it('is not begun again after an error that is none of a crash', async (context) => {
    let lives = 0
    const { over, said } = await begin(
      context,
      elsewhere(() => {
        lives += 1
        return Promise.reject(new Error('It refuses.'))
      }),
    )
    await over()
    assert.equal([lives, said()], [1, 'It said: It refuses.'])
  })

  it('counts as crashed when it gives no sign of life, but not while people are asked', async (context) => {
    let lives = 0
    const entry = elsewhere(
      async (_, host) => {
        lives += 1
        if (lives > 1) return { text: 'second life' }
        await host.permit(edit)
        return new Promise(() => {})
      },
      { stallMs: 100 },
    )
    const { agent, pass, said, clock } = await begin(context, entry)
    await paused(agent)
    await clock.advance(10_000)
    assert.is(lives, 1)
    agent.decide(agent.pending()[0]!.key, 'approve')
    await pass(50)
    assert.is(said(), 'It said: second life')
  })

  it('is waited for no longer than it needs to end, once it is stopped', async (context) => {
    const entry = elsewhere(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
      { stallMs: 100, restarts: { restart: 'never', maxRestarts: 0, windowMs: 0, backoffMs: 0 } },
    )
    const { pass, said, clock } = await begin(context, entry)
    await pass(100)
    assert.match(said(), /no sign of life/)
    assert.is(clock.pending, 0)
  })

  it('is not watched any more once it is over, though it still speaks', async (context) => {
    const hosts: RemoteHost[] = []
    const entry = elsewhere(
      async (_, host) => {
        hosts.push(host)
        return { text: 'done' }
      },
      { stallMs: 60_000 },
    )
    const { over, clock } = await begin(context, entry)
    await over()
    const before = clock.pending
    hosts[0]!.alive()
    hosts[0]!.update('text', 'And another thing.')
    assert.is(clock.pending, before)
  })
})

describe('an agent elsewhere that goes too far', (it) => {
  it('is ended by its limits, and what it used is counted', async (context) => {
    const entry = elsewhere(
      (_, host) => {
        host.used({ usage, costUsd: 0, turns: 1 })
        host.used({ usage: { ...usage, input: 9_000 }, costUsd: 0, turns: 2 })
        return new Promise(() => {})
      },
      { limits: { tokens: 5_000 } },
    )
    const { pass, said, log } = await begin(context, entry)
    await pass(500)
    assert.match(said(), /did not finish: its limit of 5000 tokens is used up/)
    assert.is(recordsOf(await log(), 'tool.end')[0]!.spent?.usage.input, 9_000)
  })

  it('is ended when the time of the run is over', async (context) => {
    const signals: AbortSignal[] = []
    const begun = Promise.withResolvers<void>()
    const entry = elsewhere((_, { signal }) => {
      signals.push(signal)
      begun.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    })
    const { agent, clock } = await begin(context, entry, { limits: { ms: 1_000 } })
    const ended = until(agent, ({ type }) => type === 'tool.end')
    await begun.promise
    await clock.advance(1_000)
    await ended
    assert.ok(signals[0]!.aborted)
  })

  it('is ended when its caller is aborted', async (context) => {
    const entry = elsewhere(
      (_, { signal, update }) =>
        new Promise((_resolve, reject) => {
          update('text', 'begun')
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    )
    const { agent, log } = await begin(context, entry)
    await until(agent, ({ type }) => type === 'child.update')
    const ended = until(agent, ({ type }) => type === 'run.end')
    agent.abort()
    await ended
    assert.is(recordsOf(await log(), 'run.end')[0]!.stopReason, 'aborted')
  })
})
