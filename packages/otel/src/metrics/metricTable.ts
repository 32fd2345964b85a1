/** Kind of an instrument. The values of an observed one are read when they are collected. */
export type MetricKind = 'counter' | 'upDown' | 'histogram' | 'observedGauge' | 'observedCounter'

/** An instrument as a row of the table. */
export interface MetricShape {
  readonly kind: MetricKind
  /** Unit in UCUM, as OpenTelemetry requires. Braces hold the counted thing. */
  readonly unit: string
  readonly about: string
  /** Names of the metric's attributes. None holds the id of an agent, a run or a person, since each value is a series of its own. */
  readonly attributes: readonly string[]
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
}

/** Buckets that the conventions advise for durations of model calls, in seconds, with two more for long ones. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 327.68]
/** Buckets for durations of up to days, such as a run or a person's decision. */
const longSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800]
/** Buckets that the conventions advise for tokens. */
const tokens = Array.from({ length: 14 }, (_, power) => 4 ** power)
const shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1]

const ofModel = ['gen_ai.provider.name', 'gen_ai.request.model']

/**
 * All metrics. `gen_ai.*`, `process.*`, `nodejs.*` and `error.type` are as in the semantic conventions of OpenTelemetry 1.45 (status of those of
 * generative AI: development); what these have no word for is `escapement.*`.
 */
export const metricTable = {
  'gen_ai.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    about: 'Duration of model calls, from the request to the end of the reply',
    attributes: ['gen_ai.operation.name', ...ofModel, 'gen_ai.response.model', 'error.type'],
    buckets: seconds,
  },
  'gen_ai.client.operation.time_to_first_chunk': {
    kind: 'histogram',
    unit: 's',
    about: 'Time from the request to the first piece of the reply',
    attributes: ['gen_ai.operation.name', ...ofModel],
    buckets: seconds,
  },
  'gen_ai.client.token.usage': {
    kind: 'histogram',
    unit: '{token}',
    about: 'Tokens of a model call; those of the input include cached ones',
    attributes: ['gen_ai.operation.name', 'gen_ai.token.type', ...ofModel, 'gen_ai.response.model'],
    buckets: tokens,
  },
  'escapement.tokens': {
    kind: 'counter',
    unit: '{token}',
    about: 'Tokens of all requests by kind: input that was not cached, read from the cache, written to it, output',
    attributes: ['escapement.token.kind', ...ofModel, 'gen_ai.agent.name'],
  },
  'escapement.cached_share': {
    kind: 'histogram',
    unit: '1',
    about: 'Share of the input of a model call that was read from the cache',
    attributes: ofModel,
    buckets: shares,
  },
  'escapement.cost_usd': {
    kind: 'counter',
    unit: '{USD}',
    about: 'Cost of requests whose prices are known, in US dollars',
    attributes: ['escapement.cost.kind', 'gen_ai.agent.name'],
  },
  'escapement.run.duration': {
    kind: 'histogram',
    unit: 's',
    about: 'Duration of runs that began and ended in this process',
    attributes: ['gen_ai.agent.name', 'escapement.run.stop_reason', 'error.type'],
    buckets: longSeconds,
  },
  'escapement.run.active': {
    kind: 'upDown',
    unit: '{run}',
    about: 'Runs under way',
    attributes: ['gen_ai.agent.name'],
  },
  'escapement.turns': { kind: 'counter', unit: '{turn}', about: 'Turns that ended', attributes: ['gen_ai.agent.name'] },
  'escapement.tool.duration': {
    kind: 'histogram',
    unit: 's',
    about: 'Duration of tool calls',
    attributes: ['gen_ai.tool.name', 'error.type'],
    buckets: longSeconds,
  },
  'escapement.tool.active': {
    kind: 'upDown',
    unit: '{call}',
    about: 'Tool calls under way',
    attributes: ['gen_ai.tool.name'],
  },
  'escapement.model.wait.duration': {
    kind: 'histogram',
    unit: 's',
    about: 'How long model calls waited for the limits of the runtime',
    attributes: [...ofModel, 'escapement.wait.reason'],
    buckets: seconds,
  },
  'escapement.model.waiting': {
    kind: 'upDown',
    unit: '{call}',
    about: 'Model calls that wait for the limits of the runtime',
    attributes: ofModel,
  },
  'escapement.decision.wait.duration': {
    kind: 'histogram',
    unit: 's',
    about: 'How long calls waited for people',
    attributes: ['escapement.wait.reason'],
    buckets: longSeconds,
  },
  'escapement.decision.waiting': {
    kind: 'upDown',
    unit: '{call}',
    about: 'Calls that wait for people, of agents in memory',
    attributes: ['escapement.wait.reason'],
  },
  'escapement.score': {
    kind: 'histogram',
    unit: '1',
    about: 'Scores of sampled runs, from 0 to 1',
    attributes: ['gen_ai.evaluation.name', 'gen_ai.evaluation.score.label', 'gen_ai.agent.name'],
    buckets: shares,
  },
  'escapement.log.records': { kind: 'counter', unit: '{record}', about: 'Records written to logs', attributes: [] },
  'escapement.errors': {
    kind: 'counter',
    unit: '{error}',
    about: 'Failed model calls, failed runs, and errors that ended no run',
    attributes: ['escapement.error.of', 'error.type'],
  },
  'escapement.worker.agents': {
    kind: 'observedGauge',
    unit: '{agent}',
    about: 'Agents of a worker, by state; those that rest outside of the memory are idle',
    attributes: ['escapement.agent.state'],
  },
  'escapement.worker.agents_loaded': {
    kind: 'observedGauge',
    unit: '{agent}',
    about: 'Agents in the memory of a worker',
    attributes: [],
  },
  'escapement.worker.attempts': {
    kind: 'observedGauge',
    unit: '{attempt}',
    about: 'Attempts of the engine under way in a worker',
    attributes: [],
  },
  'escapement.worker.queue': {
    kind: 'observedGauge',
    unit: '{run}',
    about: 'Runs that wait in a worker for the limits of their tenants',
    attributes: [],
  },
  'escapement.worker.openings': {
    kind: 'observedCounter',
    unit: '{opening}',
    about: 'Agents that a worker gave to an attempt: found in memory, or read from their logs',
    attributes: ['escapement.opening'],
  },
  'escapement.worker.clients': {
    kind: 'observedGauge',
    unit: '{client}',
    about: 'Connections to the bridge of a worker',
    attributes: [],
  },
  'escapement.ready': {
    kind: 'observedGauge',
    unit: '1',
    about: '1 where /readyz says yes, else 0',
    attributes: [],
  },
  'escapement.store.lease.age': {
    kind: 'observedGauge',
    unit: 's',
    about: 'Time since the leases of a store were renewed; others take its agents when that is as long as a lease',
    attributes: [],
  },
  'escapement.store.appends': {
    kind: 'observedCounter',
    unit: '{append}',
    about: 'Appends to logs that were stored, each of one agent',
    attributes: [],
  },
  'escapement.store.queue': {
    kind: 'observedGauge',
    unit: '{append}',
    about: 'Appends to logs that wait for the database',
    attributes: [],
  },
  'escapement.gateway.clients': {
    kind: 'observedGauge',
    unit: '{client}',
    about: 'Clients of a gateway',
    attributes: [],
  },
  'escapement.gateway.looks': {
    kind: 'observedCounter',
    unit: '{look}',
    about: 'Looks into the directory for who has an agent',
    attributes: [],
  },
  'escapement.gateway.refusals': {
    kind: 'observedCounter',
    unit: '{refusal}',
    about: 'Clients and commands that a gateway refused, and workers that it could not reach, by kind',
    attributes: ['escapement.refusal.kind'],
  },
  'escapement.gateway.commands': {
    kind: 'observedGauge',
    unit: '{command}',
    about: 'Commands of clients that no worker has answered yet',
    attributes: [],
  },
  'process.cpu.time': {
    kind: 'observedCounter',
    unit: 's',
    about: 'CPU time of the process',
    attributes: ['cpu.mode'],
  },
  'process.memory.usage': {
    kind: 'observedGauge',
    unit: 'By',
    about: 'Memory of the process that is in RAM',
    attributes: [],
  },
  'nodejs.eventloop.utilization': {
    kind: 'observedGauge',
    unit: '1',
    about: 'Share of the time in which the event loop had something to do, since the last look',
    attributes: [],
  },
} as const satisfies { readonly [name: string]: MetricShape }

export type MetricName = keyof typeof metricTable

/** Names of metrics of one kind. */
export type MetricOf<K extends MetricKind> = {
  [N in MetricName]: (typeof metricTable)[N]['kind'] extends K ? N : never
}[MetricName]
