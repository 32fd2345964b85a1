import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'provenance-1',
    file: 'src/conversation/request/assembleRequest.ts',
    what: 'the first block of a merged message is that of the one before',
    from: 'const block = last.content.length',
    to: 'const block = last.content.length - 1',
    tests: ['conversation/assembleRequest'],
  },
  {
    id: 'provenance-2',
    file: 'src/conversation/tree/origins.ts',
    what: 'a reply with calls has the same origin as one without',
    from: "message.role === 'assistant' ? toolCallsOf(message.content).length : 0",
    to: "message.role === 'user' ? toolCallsOf(message.content).length : 0",
    tests: ['conversation/assembleRequest'],
  },
]
