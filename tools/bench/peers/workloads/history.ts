import { echoOf, newSeen, turnsOf } from '../script.ts'
import { counted, verify, type TimedWorkload } from '../workload.ts'
import { turnWorkload } from './turn.ts'

const deltas = 20

/** On so many messages: one run of tool turns (`loop`), or prompts that are answered at once (`chat`). */
export function historyWorkload(
  history: number,
  how: 'loop' | 'chat',
  turns: number,
  only?: TimedWorkload['only'],
): TimedWorkload {
  const isLoop = how === 'loop'
  return {
    type: 'timed',
    name: `history-${how}-${history}`,
    title: `${isLoop ? 'turn' : 'prompt'} on ${history.toLocaleString('en-US')} messages`,
    unit: 'µs',
    per: isLoop ? 'turn' : 'prompt',
    units: turns,
    calls: turns,
    batches: 4,
    warmUp: turnWorkload(100),
    ...(only === undefined ? {} : { only }),
    async prepare(host) {
      const seen = newSeen()
      const script = turnsOf(isLoop ? turns : 1, deltas)
      const definition = host.define({ name: 'old', seen, script, tools: [echoOf(seen)] })
      const session = await definition.create({ history, onDelta: () => (seen.deltas += 1) })
      verify({ messages: session.messages() }, { messages: history })
      return async () => {
        for (let prompts = isLoop ? 1 : turns; prompts > 0; prompts -= 1)
          verify({ ...(await session.prompt('go')) }, { how: 'done', turns: isLoop ? turns : 1 })
        verify({ messages: session.messages() }, { messages: history + 2 * turns })
        verify(counted(seen), { asked: turns, deltas: turns * deltas, tools: isLoop ? turns - 1 : 0 })
      }
    },
  }
}
