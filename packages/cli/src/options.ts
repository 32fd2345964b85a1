/** Every option: its notation, with its value and its short form, and its effect. */
export const options = {
  dir: ['--dir <folder>', 'where to work, and where the logs are; default: the current folder'],
  logs: ['--logs <store>', 'a folder, sqlite:<file> or postgres://…; default: .escapement of --dir'],
  config: ['--config <file>', 'default: escapement.config.ts of the folder, or above it'],
  'no-config': ['--no-config', 'without any configuration'],
  agent: ['--agent <name>', 'which agent of the configuration; default: the first'],
  continue: ['--continue, -c', 'continue the newest session of the folder'],
  pick: ['--pick', 'choose the session to continue from a list'],
  model: ['--model <provider:id>', 'the model, or ESCAPEMENT_MODEL; "embedded" needs no key'],
  'time-limit': ['--time-limit <ms>', 'of demo sort: what the sort is held to'],
  failed: ['--failed', 'only those whose last run failed'],
  waiting: ['--waiting', 'only those that wait for a person'],
  limit: ['--limit <n>', 'only so many, the newest; default at a terminal: 50'],
  only: ['--only <ids>', 'only these sessions, with a comma between'],
  metadata: ['--metadata <pairs>', 'only sessions that have these, such as user=u1,plan=2'],
  since: ['--since <when>', 'from then on: 30min, 24h, 7d before now, or a time like 2026-05-01'],
  turn: ['--turn <n>', 'this turn, from 1 on'],
  request: ['--request', 'exactly what the model was sent'],
  artifact: ['--artifact <name>', 'a full result: its name, or the first digits of its SHA-256'],
  to: ['--to <n>', 'up to and including this turn, from 1 on'],
  speed: ['--speed <x>', 'divide the recorded pauses by this; 0: none'],
  at: ['--at <node>', 'the node to continue from, like n12'],
  id: ['--id <id>', 'of the new session, one is made by default; of chart: which agent'],
  file: ['--file <path>', 'the memory: a folder of Markdown files, or an SQLite file'],
  scope: ['--scope <scope>', 'of this scope alone, such as user:42'],
  out: ['--out <file>', 'where to write; default: standard output; of eval the folder of results'],
  jsonl: ['--jsonl', 'as a log, for "escapement import"; the default'],
  markdown: ['--markdown', 'the conversation as Markdown'],
  html: ['--html', 'as one page that shows it in any browser, without a server'],
  test: ['--test', 'as a test in TypeScript that plays it and fails'],
  task: ['--task <folder>', 'as a task for "escapement eval", in this folder of tasks'],
  expect: ['--expect <text>', 'with --test or --task: text expected in the answer'],
  port: ['--port <n>', 'where to listen; default: any free one'],
  host: ['--host <address>', 'where to listen; default 127.0.0.1, beyond it a token is needed'],
  token: ['--token <token>', 'token that clients must send; default: ESCAPEMENT_TOKEN'],
  workers: ['--workers <n>', 'how many processes; default 2'],
  engine: ['--engine <program>', 'the Restate server; default: that of its npm package'],
  'bridge-port': ['--bridge-port <n>', 'where gateways reach it; default: any free one'],
  advertise: ['--advertise <url>', 'ws://…/bridge, where gateways reach it; default: its own address'],
  ingress: ['--ingress <url>', 'where the engine takes requests'],
  'operations-port': ['--operations-port <n>', 'where /metrics, /readyz and /livez are served; default: nowhere'],
  drain: ['--drain <ms>', 'how long calls under way may take to end after SIGTERM; default 20000'],
  warm: ['--warm <n>', 'agents at rest that stay in memory; default 200'],
  tokens: ['--tokens <file>', 'JSON: tokens of clients, each with its role or { role, agents, metadata }'],
  register: ['--register <url>', 'the administration of the engine, which is told where the workers are'],
  url: ['--url <url>', 'where the engine reaches the workers: the balancer before them'],
  spawn: ['--spawn <definition>', 'a new agent of what the server defines; <id> is its own, or made'],
  steer: ['--steer', 'send into the current run before its next step; starts a run if idle'],
  'follow-up': ['--follow-up', 'send into the current run when the agent finishes'],
  'no-wait': ['--no-wait', 'exit once the server has the message'],
  acp: ['--acp', 'speak the Agent Client Protocol at /acp too'],
  'ag-ui': ['--ag-ui', 'speak AG-UI at /ag-ui too'],
  mcp: ['--mcp', 'offer the agents as MCP tools at /mcp too'],
  http: ['--http', 'over HTTP at /mcp, in place of standard input and output'],
  stately: ['--stately', 'send the Stately inspector’s messages at /stately'],
  'no-serve': ['--no-serve', 'without the inspector page'],
  stay: ['--stay', 'keep the page up until Ctrl-C; default at a terminal'],
  arm: ['--arm <name>', 'a way to try the agent, as often as you like; the first is the baseline'],
  trials: ['--trials <n>', 'how often each task is tried in each arm; default 1'],
  seed: ['--seed <n>', 'what the seeds of trials are made of; default 1'],
  concurrency: ['--concurrency <n>', 'how many trials at the same time; default 4'],
  budget: ['--budget <usd>', 'end before more than this is spent, in US dollars'],
  prices: ['--prices <file>', 'JSON with prices of models, by their ids'],
  judge: ['--judge <provider:id>', 'the model that judges, where a check asks for that'],
  definition: ['--definition <file>', 'a module that exports the agent, or a function that makes it'],
  resume: ['--resume <folder>', 'continue an evaluation with its arms, trials and seed'],
  record: ['--record', 'keep what models reply, for --replay'],
  replay: ['--replay <folder>', 'play the replies that were recorded there; no model is asked'],
  docker: ['--docker <image>', 'run all commands in containers of this image, without a network'],
  against: ['--against <what>', 'compare with the agent of another module, or of a commit'],
  changed: ['--changed', 'compare with the agent of the last commit'],
  publish: ['--publish <file>', 'write the figures into the table of a page, such as a README.md'],
  keep: ['--keep', 'keep the folders of trials that passed, too'],
  format: ['--format <name>', 'of a picture: mermaid, svg or json; of show also text'],
  direction: ['--direction <way>', 'of a chart: down or right; default: down'],
  actors: ['--actors', 'who called whom in a session and its sub-agents'],
  detail: ['--detail <how>', 'of a chart: overview or full; default: overview for an SVG of an agent'],
  theme: ['--theme <name>', 'terminal colours: dark, light or none; default: detected'],
  'no-bell': ['--no-bell', 'no terminal bell when the agent waits for you'],
  json: ['--json', 'print only JSON'],
  yes: ['--yes, -y', 'do not ask: run commands, delete'],
  help: ['--help, -h', 'show this help; for one command: escapement help <command>'],
  version: ['--version, -V, -v', 'the version'],
} as const

export type OptionName = keyof typeof options

/** Options that may stand more than once: their values are a list. */
const repeatedOptions = ['arm'] as const

export type RepeatedOption = (typeof repeatedOptions)[number]

export const isRepeated = (name: OptionName): name is RepeatedOption =>
  (repeatedOptions as readonly OptionName[]).includes(name)

/** Names of the options that take a value. */
export type ValueOption = {
  [O in OptionName]: (typeof options)[O][0] extends `${string}<${string}` ? O : never
}[OptionName]

export const takesValue = (name: OptionName): boolean => options[name][0].includes('<')
