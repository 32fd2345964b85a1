import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { noUsage, textOf } from '../../src/protocol/messages.ts'
import type { Child, ChildOf } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import {
  AgentScript,
  askGraft,
  askPrune,
  askRevert,
  checked,
  compacted,
  folded,
  overlayOver,
  text,
} from './agentScript.ts'
import { drained } from './drained.ts'
import { consulted } from './consultations.ts'
import { goBack } from './undoScript.ts'
import { agentIn, busyPlaces, places } from './everyState.ts'

const count = (script: AgentScript, type: string) => script.types().filter((one) => one === type).length

function assertAllEnded(script: AgentScript): void {
  for (const what of ['run', 'turn', 'compaction'])
    assert.is(count(script, `${what}.end`), count(script, `${what}.start`), what)
  const asked = script.driver
    .recordsOf('reply.end')
    .flatMap(({ message }) => message.content.filter(({ type }) => type === 'toolCall'))
  assert.is(count(script, 'tool.end'), asked.length)
  const conversation = rebuildConversation(script.driver.records)
  assert.is(conversation.head, script.context.head)
  assert.is(conversation.lastNodeId, script.context.lastNodeId)
}

describe('an abort', (it) => {
  for (const place of busyPlaces) {
    it(`ends an agent that is ${place}: everything is told to stop, and everything gets its one end`, () => {
      const script = agentIn(place)
      script.abort()
      assert.is(script.state, 'settling')
      assert.equal(script.underway, ['settle'])
      script.settle()
      // A pin is about the conversation, not about the run.
      if (place === 'draining.pins') script.drain('drainPins')
      assert.is(script.state, 'idle')
      assert.equal(script.underway, [])
      assert.equal(script.context.calls, [])
      assert.is(script.driver.recordsOf('run.end').at(-1)?.stopReason, 'aborted')
      assertAllEnded(script)
    })

    it(`ends an agent that is ${place} also when settling breaks`, () => {
      const script = agentIn(place)
      script.abort()
      script.crash('settle')
      if (place === 'draining.pins') script.drain('drainPins')
      assert.is(script.state, 'idle')
      assertAllEnded(script)
    })
  }

  it('changes nothing at rest, and gives up the paused run while the store fails', () => {
    for (const place of ['idle', 'paused by the store'] as const) {
      const script = agentIn(place)
      const before = script.driver.records.length
      script.abort()
      const written = script.driver.records.slice(before).map(({ type }) => type)
      assert.equal(written, place === 'idle' ? [] : ['run.abandoned'])
      assert.is(script.state, place === 'idle' ? 'idle' : 'paused')
      assert.is(script.context.pausedRun, null)
    }
  })

  it('keeps what had arrived of the reply, and counts it', () => {
    const script = agentIn('replying.streaming')
    script.abort()
    assert.is(script.driver.child('settle').input.replyKey, 'a/t0/reply/1')
    script.settle({ content: text('half an ans'), usage: { ...noUsage, output: 3 }, costUsd: 0.25 })
    const [reply] = script.driver.recordsOf('reply.end')
    assert.is(reply?.message.stopReason, 'aborted')
    assert.is(textOf(reply?.message.content ?? []), 'half an ans')
    assert.is(script.driver.recordsOf('turn.end')[0]?.usage.output, 3)
    assert.is(script.driver.recordsOf('run.end')[0]?.costUsd, 0.25)
    assert.is(script.context.head, 2)
    script.prompt('go on')
    assert.is(script.driver.recordsOf('message.added')[1]?.parentId, 2)
  })

  it('tells running calls from those that had not started', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2', 'c3'] })
    script.finishCall('c1')
    script.abort()
    script.settle()
    const results = script.driver
      .recordsOf('tool.end')
      .map(({ message }) => [message.synthetic, textOf(message.content)])
    assert.equal(
      results.map(([synthetic]) => synthetic),
      [undefined, 'aborted', 'aborted'],
    )
    assert.match(results[1]?.[1] ?? '', /while it ran/)
    assert.match(results[2]?.[1] ?? '', /before it started/)
    assert.is(script.context.head, 5)
  })

  it('drops what was said to the run, and tells the next one nothing of it', () => {
    const script = agentIn('executing')
    script.followUp('f')
    script.steer('s')
    script.abort()
    const dropped = script.driver.recordsOf('queue.changed').filter(({ why }) => why === 'dropped')
    assert.equal(dropped.map(({ queue }) => queue).toSorted(), ['followUps', 'steering'])
    script.settle()
    assert.is(script.state, 'idle')
    script.prompt('next')
    assert.equal(
      script.driver
        .recordsOf('message.added')
        .map(({ message }) => textOf(message.content))
        .slice(1),
      ['next'],
    )
  })

  it('starts the next waiting prompt', () => {
    const script = agentIn('executing')
    script.prompt('next')
    script.abort()
    script.settle()
    assert.is(script.state, 'replying.requesting')
    assert.is(script.context.owesReply, true)
  })

  it('said twice is one', () => {
    const script = agentIn('executing')
    script.abort()
    script.abort()
    script.settle()
    assert.is(count(script, 'run.end'), 1)
  })
})

describe('a stop', (it) => {
  for (const place of places) {
    it(`ends an agent that is ${place} for good, with one end for everything`, () => {
      const script = agentIn(place)
      const isBusy = busyPlaces.includes(place)
      if (place !== 'stopped') script.stop()
      if (isBusy) {
        assert.equal(script.underway, ['settle'])
        script.settle()
      }
      assert.is(script.state, 'stopped')
      assert.is(script.driver.status, 'done')
      assert.equal(script.types().at(-1), 'agent.stopped')
      assertAllEnded(script)
      assert.is(script.context.pause, null)
      const before = script.driver.records.length
      script.prompt('anyone?')
      script.resume()
      script.stop()
      assert.is(script.driver.records.length, before)
    })
  }

  it('drops what waits, and says so', () => {
    const script = agentIn('replying.requesting')
    script.prompt('p')
    script.steer('s')
    script.followUp('f')
    script.stop()
    script.settle()
    const dropped = script.driver.recordsOf('queue.changed').filter(({ why }) => why === 'dropped')
    assert.equal(dropped.map(({ queue }) => queue).toSorted(), ['followUps', 'prompts', 'steering'])
  })

  it('writes the results of open calls under a run that exists', () => {
    const script = new AgentScript({ toolExecution: 'sequential' })
    script.prompt('go')
    script.reply({ calls: ['c1', 'c2'] })
    script.failStore()
    script.finishCall('c1')
    assert.is(script.state, 'paused')
    script.stop()
    const runs = script.driver.recordsOf('run.start').map(({ runId }) => runId)
    for (const { runId } of script.driver.recordsOf('tool.end')) assert.ok(runs.includes(runId), runId)
    assertAllEnded(script)
  })
})

/** Twice the same road; the first time the effect is aborted, and its result comes during the second. */
const latecomers: {
  readonly [S in Child['src']]?: { place: Parameters<typeof agentIn>[0]; output: (child: Child) => unknown }
} = {
  streamReply: {
    place: 'replying.requesting',
    output: (child) => ({ key: (child.input as { key: string }).key, ok: false }),
  },
  sleep: { place: 'backoff', output: (child) => child.input },
  compactTrunk: {
    place: 'compacting',
    output: (child) => compacted(child as ChildOf<'compactTrunk'>, { at: 1, overlay: overlayOver(2, 3) }),
  },
  drainReverts: {
    place: 'draining.reverts',
    output: (child) => drained(child as ChildOf<'drainReverts'>, 1),
  },
  undoCall: {
    place: 'draining.undoing',
    output: (child) => ({ key: (child as ChildOf<'undoCall'>).input.key, step: { call: 3, undone: true }, at: 1 }),
  },
  drainStall: {
    place: 'draining.checking',
    output: (child) => checked(child as ChildOf<'drainStall'>, 1, { step: 2, rung: 'pause' }),
  },
  consultPolicies: {
    place: 'draining.consulting',
    output: (child) => consulted(child as ChildOf<'consultPolicies'>, 1, { steps: [2] }),
  },
  drainFold: { place: 'draining.folding', output: (child) => folded(child as ChildOf<'drainFold'>, 1, [2]) },
  drainGrafts: { place: 'draining.grafts', output: (child) => drained(child as ChildOf<'drainGrafts'>, 1) },
  drainPrunes: { place: 'draining.prunes', output: (child) => drained(child as ChildOf<'drainPrunes'>, 1) },
}

describe('an effect that was told to stop', (it) => {
  for (const [src, { place, output }] of Object.entries(latecomers)) {
    it(`is not listened to when it is ${src} and another is under way`, () => {
      const script = agentIn(place)
      const old = script.driver.child(src as Child['src'])
      script.abort()
      script.settle()
      script.prompt('again')
      if (place === 'backoff') script.failReply('network')
      if (place === 'compacting') script.reply({ contextTokens: 90_000 })
      if (place.startsWith('draining')) {
        const brakes = {
          'draining.reverts': askRevert,
          'draining.grafts': askGraft,
          'draining.prunes': askPrune,
          'draining.undoing': askRevert,
        } as const
        const brake = place in brakes ? brakes[place as keyof typeof brakes] : undefined
        script.reply({ calls: ['c2'], contextTokens: 5_000, foldAt: brake === undefined ? 4_000 : 6_000 })
        script.finishCall('c2', brake === undefined ? {} : { brake })
        if (place === 'draining.undoing') goBack(script, script.context.lastNodeId)
      }
      assert.is(script.state, place)
      const before = script.driver.records.length
      script.driver.finish(old, output(old))
      assert.equal(script.types(before), [])
      assert.is(script.state, place)
    })
  }

  it('is not listened to when it is settle and another is under way', () => {
    const script = agentIn('replying.streaming')
    script.abort()
    const old = script.driver.child('settle')
    script.crash('settle')
    script.prompt('again')
    script.firstToken()
    script.abort()
    script.driver.finish(old, {
      key: old.input.key,
      at: 1,
      partial: { content: text('old'), usage: noUsage, costUsd: 0 },
    })
    assert.equal(script.driver.recordsOf('reply.end'), [])
    assert.is(script.state, 'settling')
  })
})

describe('keys', (it) => {
  it('name one effect each, so that they serve as idempotency keys', () => {
    const script = new AgentScript({
      flags: { revert: true, prune: true, fold: false, stall: false, policies: false, compact: true },
      limits: { turns: 1 },
    })
    script.prompt('go')
    script.failReply('overflow')
    script.compact({ overlay: overlayOver(1, 1, [1]) })
    script.reply({ calls: ['c1', 'c2'] })
    script.finishCall('c1', { brake: askRevert })
    script.finishCall('c2', { brake: askPrune })
    script.drain('drainReverts')
    script.drain('drainPrunes')
    assert.is(script.state, 'paused')
    script.revert('n1')
    script.resume()
    script.drain('drainReverts')
    script.reply()
    assert.is(script.state, 'idle')
    for (let i = 0; i < 2; i++) {
      script.revert('n1')
      script.drain('drainReverts')
    }
    const keys = script.driver.started.flatMap(({ src, input }) =>
      'key' in input && src !== 'sleep' ? [`${src} ${input.key}`] : [],
    )
    assert.equal(keys.toSorted(), [...new Set(keys)].toSorted())
  })
})
