import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { readBody, readInput } from '../../../ag-ui/src/readInput.ts'
import { readChat, readChatInput } from '../../../ai-sdk/src/readChat.ts'
import { readFrame } from '../../src/server/readFrame.ts'

const message = { id: 'm', role: 'user' } as const
const run = { threadId: 'a', runId: 'r', messages: [], tools: [], context: [] }
const chat = { id: 'a', messages: [{ ...message, parts: [] }] }
const text = (length: number): string => 'x'.repeat(length)
/** A value nested so deep. */
const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

const ofFrame = (value: object): void => {
  const read = readFrame(JSON.stringify(value), 10)
  if ('problem' in read) throw new Error(read.problem)
}
const ofRun = (value: object): void => void readInput(readBody(JSON.stringify(value), 10))
const ofChat = (value: object): void => void readChat(JSON.stringify(value), 10)

/** Parts of requests, read by their size, with the most that is taken and the least. */
const bounds: readonly (readonly [what: string, read: (size: number) => void, most: number, least?: number])[] = [
  ['the id of a run of AG-UI', (size) => ofRun({ ...run, runId: text(size) }), 256, 1],
  ['the depth of a run of AG-UI', (size) => ofRun({ ...run, state: nested(size - 1) }), 10],
  [
    'the id of a message of useChat',
    (size) => ofChat({ ...chat, messages: [{ ...message, id: text(size), parts: [] }] }),
    256,
  ],
  ['the depth of a request of useChat', (size) => ofChat({ ...chat, more: nested(size - 1) }), 10],
  [
    'the messages of a request of useChat',
    (size) => void readChatInput({ ...chat, messages: Array.from({ length: size }, () => chat.messages[0]) }),
    Infinity,
    1,
  ],
  [
    'the depth of a frame',
    (size) => ofFrame({ type: 'agent.prompt', id: '1', agentId: 'a', content: 'x', more: nested(size - 1) }),
    10,
  ],
  ['the id of a frame', (size) => ofFrame({ type: 'agent.list', id: text(size) }), 128, 1],
]

describe('what a client gives', (it) => {
  for (const [what, read, most, least] of bounds)
    it(`is taken up to its bound, and not one more: ${what}`, () => {
      const problem = (size: number): string | undefined => {
        try {
          read(size)
          return undefined
        } catch (thrown) {
          return (thrown as RuntimeError).message
        }
      }
      // A field that is not known is another problem.
      const isRefused = (size: number): boolean => {
        const found = problem(size)
        return found !== undefined && !/more.*not known|not known.*more/.test(found)
      }
      if (Number.isFinite(most)) assert.equal([isRefused(most), isRefused(most + 1)], [false, true], problem(most))
      if (least !== undefined) assert.equal([isRefused(least), isRefused(least - 1)], [false, true], problem(least))
    })
})
