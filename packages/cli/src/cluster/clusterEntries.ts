import type { Command } from '../command.ts'

/** The logs of several processes. */
const shared = 'sqlite:<file> or postgres://…'

/** The commands for agents in several processes, in the list of commands. */
export const clusterEntries = {
  worker: {
    usage: 'worker [module]',
    group: 'network',
    summary: 'a process in which an engine has agents work, one of many',
    details: [
      'The engine is a Restate server, which places each agent in one of its workers and goes on elsewhere',
      'when that dies; the logs are in a store that all share. SIGTERM lets go of all agents at once:',
      'nothing is lost, and other workers go on. --register and --url tell the engine where the workers are',
      'reached, together; --ingress is where clients’ commands go, that come by a gateway. Variables:',
      'ESCAPEMENT_LOGS; ESCAPEMENT_GATEWAY_SECRET, 32 characters that it shares with gateways;',
      'ESCAPEMENT_ENGINE_KEYS, public keys of the engine, with commas: only signed requests are taken then.',
      'JSON (piped, or with --json): { "url", "bridge" }. Needs @restatedev/restate-sdk.',
    ],
    options: [
      'logs',
      'register',
      'url',
      'ingress',
      'bridge-port',
      'advertise',
      'port',
      'host',
      'dir',
      'config',
      'no-config',
      'model',
      'json',
    ],
    task: 'optional',
    operand: { name: 'module', example: './agents.ts' },
    meanings: { logs: `${shared}; default: ESCAPEMENT_LOGS` },
    load: async () => (await import('../commands/worker.ts')).workerCommand,
  },
  gateway: {
    usage: 'gateway',
    group: 'network',
    summary: 'what clients of many workers speak to',
    details: [
      'It finds in the store who has an agent, and takes commands there and events back, and clients go on',
      'when the agent does so elsewhere. It runs no agents and keeps nothing: there may be several. With',
      '--token or ESCAPEMENT_TOKEN only clients that have it come in; ESCAPEMENT_GATEWAY_SECRET is that of',
      'the workers. JSON (piped, or with --json): { "url", "page" }.',
    ],
    options: ['logs', 'port', 'host', 'token', 'json'],
    task: 'none',
    meanings: { logs: `${shared}; default: ESCAPEMENT_LOGS` },
    load: async () => (await import('../commands/gateway.ts')).gatewayCommand,
  },
  cluster: {
    usage: 'cluster [module]',
    group: 'network',
    summary: 'an engine, workers and a gateway on this machine, to develop',
    details: [
      'The engine is the Restate server of its npm package, without telemetry; what it has is kept in',
      '.escapement/cluster, and the logs are in .escapement/cluster.db unless --logs. Workers that die',
      'are started again, and what they did goes on elsewhere at once. Clients, and the page, speak to the',
      'gateway. Ctrl-C ends all, and what was under way goes on at the next start.',
      'JSON (piped, or with --json): { "url", "page", "ingress", "admin", "workers", "logs" }, and what',
      'happens to workers on standard error, one event a line.',
    ],
    options: ['workers', 'logs', 'engine', 'port', 'host', 'token', 'dir', 'config', 'no-config', 'model', 'json'],
    task: 'optional',
    operand: { name: 'module', example: './agents.ts' },
    meanings: { logs: `${shared}; default: .escapement/cluster.db` },
    load: async () => (await import('../commands/cluster.ts')).clusterCommand,
  },
} satisfies Readonly<Record<string, Command>>
