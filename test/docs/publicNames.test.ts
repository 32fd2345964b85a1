import { assert, describe } from '../support/suite.ts'

/** A name that appears or goes here is a change of the public contract: review it, and say so in the changelog. */
const reviewed = {
  '../../src/index.ts': [
    'RuntimeError',
    'SessionProjection',
    'agentMachine',
    'capturedRequests',
    'chart',
    'checkRequest',
    'conversationGraph',
    'createRuntime',
    'defineAgent',
    'defineTool',
    'deleteSession',
    'errorTable',
    'estimateTokens',
    'exportSession',
    'fallback',
    'fileStore',
    'forkSession',
    'formatNodeId',
    'heuristicStrategy',
    'importSession',
    'listSessions',
    'llmStrategy',
    'loadSession',
    'logRecordSchema',
    'memoryStore',
    'parallel',
    'parseNodeId',
    'parseRecord',
    'partialOutput',
    'pipeline',
    'policyModel',
    'race',
    'readHistory',
    'rebuildConversation',
    'recordVersion',
    'repairLog',
    'router',
    'sessionOf',
    'stored',
    'summaryOf',
    'supervisorMachine',
    'workspaceTools',
  ],
  '../../src/testing.ts': [
    'modelContract',
    'recordModel',
    'replayModel',
    'scriptedModel',
    'simulatedClock',
    'storeContract',
  ],
  '../../src/aiSdk.ts': ['aiSdkModel', 'historyOf', 'isAiSdkModel'],
  '../../src/otel.ts': ['otelTracer'],
  '../../src/client.ts': ['RuntimeError', 'connect', 'conversationStore', 'emptyChat', 'foldMessages', 'partialOutput'],
  '../../src/acp.ts': ['acp'],
  '../../src/agUi.ts': ['agUi'],
  '../../src/stately.ts': ['stately'],
  '../../src/xstate.ts': ['agentLogic'],
  '../../src/policies.ts': ['compositions', 'decide', 'heuristicScorer', 'keep', 'modelScorer', 'policy', 'when'],
}

describe('the public doors', (it) => {
  for (const [door, names] of Object.entries(reviewed)) {
    it(`${door.slice('../../src/'.length)} exports exactly the reviewed names`, async () => {
      assert.equal(Object.keys((await import(door)) as object).toSorted(), names)
    })
  }
})
