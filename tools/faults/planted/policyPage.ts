import type { Fault } from '../mutate.ts'

const asked = 'packages/page/src/inspector/model/calls/askedPolicy.ts'
const rows = 'packages/page/src/inspector/model/conversation/graphRows.ts'
const followed = ['inspector/calls/policies.test']
const told = ['braking/policiesTold']
const served = ['packages/bridge/test/server/policies']
const printed = ['packages/cli/test/eventPrinter']

export const faults: readonly Fault[] = [
  {
    id: 'policyPage-1',
    file: asked,
    what: 'what the model asked for is told to a person as theirs',
    from: "record.request.by === 'person' && ",
    to: '',
    tests: followed,
  },
  {
    id: 'policyPage-2',
    file: asked,
    what: 'the end of another policy is told as that of this one',
    from: "record.type === 'policy.end' && record.requestId === id",
    to: "record.type === 'policy.end'",
    tests: followed,
  },
  {
    id: 'policyPage-3',
    file: asked,
    what: 'a plan counts as carried out before its revert is decided',
    from: ' || (end.revert !== undefined && revert === undefined)',
    to: '',
    tests: followed,
  },
  {
    id: 'policyPage-4',
    file: asked,
    what: 'a prune of somebody else is told as the plan of this policy',
    from: "record.type === 'prune.applied' && record.id === end.prune",
    to: "record.type === 'prune.applied'",
    tests: followed,
  },
  {
    id: 'policyPage-5',
    file: 'packages/page/src/inspector/model/agent/logFold.ts',
    what: 'a policy seems to decide for ever once its process has died',
    from: "record.type === 'policy.end' || record.type === 'run.start'",
    to: "record.type === 'policy.end'",
    tests: followed,
  },
  {
    id: 'policyPage-6',
    file: 'packages/bridge/src/server/commandTable.ts',
    what: 'of an agent that does not run nobody knows the policies',
    from: 'bridge.definitions.get(found.definition)',
    to: 'undefined',
    tests: served,
  },
  {
    id: 'policyPage-7',
    file: 'packages/bridge/src/client/answers.ts',
    what: 'the answer of a server that knows no policies is refused',
    from: 'policies: maybe(list(fields<PolicyInfo>({ name: text, when: text, decide: text, keep: text })))',
    to: 'policies: list(fields<PolicyInfo>({ name: text, when: text, decide: text, keep: text })) as never',
    tests: served,
  },
  {
    id: 'policyPage-8',
    file: rows,
    what: 'a masked result does not say which policy masked it',
    from: '...(policy === undefined ? {} : { maskedBy: policy })',
    to: '',
    tests: told,
  },
  {
    id: 'policyPage-9',
    file: rows,
    what: 'the note of a revert does not say which policy planned it',
    from: 'policy === undefined ? { by } : { by, policy }',
    to: '({ by })',
    tests: told,
  },
  {
    id: 'policyPage-10',
    file: 'packages/sessions/src/sessionProjection.ts',
    what: 'what policies cost at rest is not counted',
    from: 'if (record.usage !== undefined) this.#spend(record.usage, record.costUsd)',
    to: '',
    tests: told,
  },
  {
    id: 'policyPage-11',
    file: 'packages/charts/src/conversationModel.ts',
    what: 'a prune loses its policy to what the conversation knows of it',
    from: 'policy = prunes.get(id)?.policy',
    to: 'policy',
    tests: told,
  },
  {
    id: 'policyPage-12',
    file: 'packages/charts/src/amounts.ts',
    what: 'the name of a policy in a foreign log moves the cursor',
    from: '`, by policy ${oneLine(policy)}`',
    to: '`, by policy ${policy}`',
    tests: printed,
  },
  {
    id: 'policyPage-13',
    file: 'packages/cli/src/terminal/statusLine.ts',
    what: 'a policy seems to decide after it has decided',
    from: "else if (event.type === 'policy.end' || event.type === 'model.waited') this.#aside = ''",
    to: "else if (event.type === 'model.waited') this.#aside = ''",
    tests: printed,
  },
  {
    id: 'policyPage-14',
    file: 'packages/page/src/inspector/model/agent/controls.ts',
    what: 'a policy is asked of an agent that has none',
    from: 'view.policies === null || view.policies.length === 0',
    to: 'view.policies === null',
    tests: ['page/test/inspector/agent/model-parts'],
  },
]
