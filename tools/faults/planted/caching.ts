import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'caching-1',
    file: 'packages/ai-sdk/src/adapters/askForCache.ts',
    what: 'the end of the request before is not marked: after many calls at once nothing is found in the cache',
    from: '[last, previous].filter',
    to: '[last].filter',
    tests: ['journeys/cachesPrompts'],
  },
  {
    id: 'caching-2',
    file: 'packages/ai-sdk/src/adapters/askForCache.ts',
    what: 'with marks of the application there are more than four',
    from: 'Math.max(0, mostMarks - own.length)',
    to: 'mostMarks',
    tests: ['ai-sdk/test/adapters/aiSdkCache'],
  },
  {
    id: 'caching-3',
    file: 'packages/ai-sdk/src/adapters/askForCache.ts',
    what: 'a note that no later request has is marked',
    from: "part.text !== '' && !isPassing(part.text)",
    to: "part.text !== ''",
    tests: ['ai-sdk/test/adapters/aiSdkCache'],
  },
  {
    id: 'caching-4',
    file: 'src/conversation/limits/measured.ts',
    what: 'after a fold the cache seems to hold less',
    from: ' && tokens >= last.tokens',
    to: '',
    tests: ['conversation/measured'],
  },
  {
    id: 'caching-5',
    file: 'src/actors/turn/askModel.ts',
    what: 'summaries are written to the cache, which nobody reads',
    from: '{ ...question, input, isOnce: true }',
    to: '{ ...question, input }',
    tests: ['ai-sdk/test/adapters/aiSdkCache'],
  },
  {
    id: 'caching-6',
    file: 'packages/ai-sdk/src/adapters/askForCache.ts',
    what: 'marks of an hour stand behind those of five minutes, which is refused',
    from: "own.every(isLong) ? time : '5m'",
    to: 'time',
    tests: ['ai-sdk/test/adapters/aiSdkCache'],
  },
]
