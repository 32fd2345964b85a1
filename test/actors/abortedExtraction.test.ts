import { extract } from '../../packages/tools/src/remembering/extract.ts'
import type { Left } from '../../src/actors/parts/memory/leftBehind.ts'
import { memoryOf } from '../../packages/tools/src/remembering/memorySettings.ts'
import type { Memory, MemoryRecord } from '../../src/protocol/ports/memory.ts'
import type { Message } from '../../src/protocol/messages.ts'
import { actorPorts, agentSays, toolSays, userSays } from '../support/actorPorts.ts'
import { assert, describe } from '../support/suite.ts'

describe('a run that is aborted while its lessons are kept', (it) => {
  const lessons = 3
  for (const after of [0, 1, 2, 3])
    it(`keeps no more of them: after ${after} of ${lessons}`, async () => {
      const failed = (at: number): Message => ({ ...toolSays(`c${at}`, `no ${at}`), isError: true }) as Message
      const made = Array.from({ length: lessons }, (_, at) => [
        agentSays({ type: 'toolCall', callId: `c${at}`, name: 'look', input: { at } }),
        failed(at),
      ])
      const ports = actorPorts({}, [userSays('the task'), ...made.flat()])
      const nodes = ports.conversation.log().map(({ id }) => id)
      const evidence = { calls: [], changed: [] }
      const tag = { kind: 'lesson', text: 'It does not work.', turnIndex: 0, abandoned: nodes.slice(1), evidence }
      const controller = new AbortController()
      const kept: MemoryRecord[] = []
      if (after === 0) controller.abort()
      const store: Memory = {
        put: async (record) => {
          if (kept.push(record) === after) controller.abort()
          return record
        },
        search: async () => [],
        list: async () => [],
        delete: async () => 0,
      }
      const items = [{ type: 'tag', tag }] as unknown as readonly Left[]
      const leftBehind = { items } as NonNullable<typeof ports.leftBehind>
      const settings = memoryOf({ store, agent: true, extract: true }, 'Agent')
      const { signal } = controller
      await extract({ ...ports, leftBehind }, settings, { key: 'k', runId: 'r', signal }).catch(() => {})
      assert.is(kept.length, after)
    })
})
