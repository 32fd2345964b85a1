import { z } from 'zod'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { ends, Lives, type Life } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { callerOf, elsewhere, recordsOf } from './fakeAgent.ts'

/** The state elsewhere, whatever becomes of the caller: tasks, with the steps that were done of each. */
interface Elsewhere {
  readonly tasks: Map<string, string[]>
  begun: number
}

/** A task of two steps, each of which people allow, with a question between them. It goes on with a task that was noted. */
const worker = (world: Elsewhere): AgentDefinition =>
  callerOf(
    elsewhere(async ({ handle }, host) => {
      let id = (handle as { readonly id: string } | undefined)?.id
      if (id === undefined) {
        world.begun += 1
        id = `s${world.begun}`
        world.tasks.set(id, [])
        await host.note(id, { id })
      }
      const done = world.tasks.get(id)!
      for (const step of ['first', 'second']) {
        if (done.includes(step)) continue
        const permission = await host.permit({ names: ['codex_edit'], effects: 'irreversible', input: { step } })
        if (!permission.ok) return { text: permission.reason, isError: true }
        done.push(step)
        host.update('tool', step)
      }
      const colour = await host.ask(z.enum(['red', 'green']), 'Which colour?', handle !== undefined)
      return { text: `${done.join()} in ${colour}` }
    }),
  )

async function finish({ agent, logs }: Life): Promise<{ log: readonly LogRecord[]; said: string }> {
  const over = ends(agent)
  const decide = (): void => {
    for (const { kind, key } of agent.pending()) agent.decide(key, kind === 'question' ? { value: 'red' } : 'approve')
  }
  const stop = agent.subscribe((event) => {
    if (event.type === 'state.changed' && event.state === 'paused') setImmediate(decide)
  })
  if (agent.state !== 'idle' || agent.pending().length > 0) {
    decide()
    await over
  }
  stop()
  const { a1 } = await logs()
  return { log: a1!, said: textOf(agent.conversation.trunk().at(-1)!.message.content) }
}

describe('a caller of an agent elsewhere whose process is killed after every record', (it) => {
  it('finds the task again, and begins none twice that it has noted', { timeoutMs: 30_000 }, async (context) => {
    const lives = new Lives(context)
    const whole = await finish(await lives.begin(worker({ tasks: new Map(), begun: 0 }), 'go'))
    assert.is(whole.said, 'It said: first,second in red')
    const first = whole.log.findIndex(({ type }) => type === 'reply.end') + 1
    for (let length = first; length < whole.log.length - 1; length++) {
      const before = whole.log.slice(0, length)
      const isNoted = before.some(({ type }) => type === 'child.noted')
      const done = recordsOf(before, 'child.update').map(({ text }) => text)
      const world: Elsewhere = { tasks: isNoted ? new Map([['s1', [...done]]]) : new Map(), begun: isNoted ? 1 : 0 }
      const { log, said } = await finish(await lives.resume(worker(world), { a1: before }, { continue: true }))
      assert.is(said, whole.said, `after ${length} records`)
      assert.equal([world.begun, world.tasks.get('s1')], [1, ['first', 'second']], `after ${length} records`)
      // People are asked no more often than there is something to decide.
      const decided = recordsOf(log, 'approval.decided').map(({ key }) => key)
      assert.is(new Set(decided).size, decided.length, `after ${length} records`)
      const asked = recordsOf(log, 'approval.requested').length + recordsOf(log, 'question.asked').length
      assert.is(asked, 3, `after ${length} records`)
    }
  })
})
