import type { Fault } from '../mutate.ts'

/** Faults in what is done with a reply by how it ended. */
export const faults: readonly Fault[] = [
  {
    id: 'repliesJudged-1',
    file: 'src/machines/unfitReplies.ts',
    what: 'a call of a cut reply is run',
    from: "if (stopReason !== 'length') return {}",
    to: 'return {}',
    tests: ['journeys/judgesReplies'],
  },
  {
    id: 'repliesJudged-2',
    file: 'src/machines/unfitReplies.ts',
    what: 'a call of a refused reply is run',
    from: "if (stopReason === 'refusal') return { unfit:",
    to: "if (stopReason === 'never') return { unfit:",
    tests: ['journeys/judgesReplies'],
  },
  {
    id: 'repliesJudged-3',
    file: 'src/machines/calls.ts',
    what: 'a call of a cut reply waits for an approval',
    from: `  refuseUnfit(draft)
  refuseExcess(draft)
  refuseUnoffered(draft)
  for`,
    to: `  refuseExcess(draft)
  refuseUnoffered(draft)
  for`,
    tests: ['machines/calls'],
  },
  {
    id: 'repliesJudged-4',
    file: 'src/machines/contextFold.ts',
    what: 'a call of a cut reply is run after a crash',
    from: `      ...unfit,
`,
    to: '',
    tests: ['journeys/judgesReplies'],
  },
  {
    id: 'repliesJudged-5',
    file: 'src/machines/unfitReplies.ts',
    what: 'a model that is cut off again and again is asked for ever',
    from: '(run.cutReplies ?? 0) < mostCutReplies',
    to: 'true',
    tests: ['journeys/judgesReplies'],
  },
  {
    id: 'repliesJudged-6',
    file: 'src/actors/calls/planCalls.ts',
    what: 'the functions that decide about approvals are asked about a cut reply',
    from: ' || !isWhole',
    to: '',
    tests: ['journeys/judgesReplies'],
  },
  {
    id: 'repliesJudged-7',
    file: 'src/protocol/checks/judgeReply.ts',
    what: 'an end that is not known is a success',
    from: "return known ?? 'broken'",
    to: "return known ?? 'whole'",
    tests: ['protocol/judgeReply'],
  },
  {
    id: 'repliesJudged-8',
    file: 'src/actors/brakes/compaction/compactTrunk.ts',
    what: 'what a summary that is thrown away used is not counted',
    from: 'usage === undefined ? summary : { ...summary, usage: toldBy(usage) }',
    to: 'summary',
    tests: ['journeys/compactsALong'],
  },
  {
    id: 'repliesJudged-9',
    file: 'src/actors/models/openStream.ts',
    what: 'a silent model is waited for for ever',
    from: 'else this.#giveUp()',
    to: '',
    tests: ['journeys/judgesReplies'],
  },
  {
    id: 'repliesJudged-10',
    file: 'packages/ai-sdk/src/adapters/readStream.ts',
    what: 'the second call of an id takes the place of the first',
    from: 'calls.get(part.toolCallId)?.shift()',
    to: 'calls.get(part.toolCallId)?.[0]',
    tests: ['ai-sdk/test/adapters/aiSdkCallIds'],
  },
  {
    id: 'repliesJudged-11',
    file: 'src/actors/turn/readReply.ts',
    what: 'a reply that the provider pauses is the end',
    from: "if (verdict === 'paused' && requests <= mostPauses) continue",
    to: "if (verdict === 'paused' && requests > mostPauses) continue",
    tests: ['journeys/judgesReplies'],
  },
]
