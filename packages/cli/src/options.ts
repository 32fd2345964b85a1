/** Every option: its notation, with its value and its short form, and its effect. */
export const options = {
  dir: ['--dir <folder>', 'where to work, and where the logs are; default: the current folder'],
  logs: ['--logs <store>', 'a folder, sqlite:<file> or postgres://…; default: .escapement of --dir'],
  config: ['--config <file>', 'default: escapement.config.ts of the folder, or above it'],
  'no-config': ['--no-config', 'ignore any configuration file'],
  agent: ['--agent <name>', 'which agent of the configuration; default: the first'],
  continue: ['--continue, -c', 'continue the newest session of the folder'],
  pick: ['--pick', 'choose the session to continue from a list'],
  model: ['--model <provider:id>', 'the model, or ESCAPEMENT_MODEL; "embedded" needs no key'],
  'time-limit': ['--time-limit <ms>', 'demo sort: the time that sorting may take'],
  failed: ['--failed', 'only those whose last run failed'],
  waiting: ['--waiting', 'only those that wait for a person'],
  limit: ['--limit <n>', 'at most this many, the newest; default at a terminal: 50'],
  only: ['--only <ids>', 'only these sessions, separated by commas'],
  metadata: ['--metadata <pairs>', 'only sessions that have these, such as user=u1,plan=2'],
  since: ['--since <when>', 'only from then on: 30min, 24h or 7d ago, or a time like 2026-05-01'],
  turn: ['--turn <n>', 'this turn; the first is 1'],
  request: ['--request', 'exactly what the model was sent'],
  artifact: ['--artifact <name>', 'a full result: its name, or the first digits of its SHA-256'],
  to: ['--to <n>', 'up to and including this turn; the first is 1'],
  speed: ['--speed <x>', 'divide the recorded pauses by this; 0: none'],
  at: ['--at <node>', 'the node to continue from, like n12'],
  id: ['--id <id>', 'id of the new session; default: a generated one; chart: which agent'],
  file: ['--file <path>', 'the memory: a folder of Markdown files, or an SQLite file'],
  scope: ['--scope <scope>', 'only this scope, such as user:42'],
  out: ['--out <file>', 'where to write; default: standard output; eval: the folder of results'],
  jsonl: ['--jsonl', 'as a log, for "escapement import"; the default'],
  markdown: ['--markdown', 'the conversation as Markdown'],
  html: ['--html', 'as one page for any browser, without a server'],
  test: ['--test', 'as a TypeScript test that replays it and fails'],
  task: ['--task <folder>', 'as a task for "escapement eval", in this folder of tasks'],
  expect: ['--expect <text>', 'with --test or --task: text expected in the answer'],
  port: ['--port <n>', 'where to listen; default: any free one'],
  host: ['--host <address>', 'where to listen; default 127.0.0.1; others need a token'],
  token: ['--token <token>', 'token that clients must send; default: ESCAPEMENT_TOKEN'],
  workers: ['--workers <n>', 'how many processes; default 2'],
  engine: ['--engine <program>', 'the Restate server; default: the one of its npm package'],
  'bridge-port': ['--bridge-port <n>', 'where gateways reach it; default: any free one'],
  advertise: ['--advertise <url>', 'ws://…/bridge, where gateways reach it; default: its own address'],
  ingress: ['--ingress <url>', 'where the engine takes requests'],
  'operations-port': ['--operations-port <n>', 'where /metrics, /readyz and /livez are served; default: nowhere'],
  drain: ['--drain <ms>', 'how long running calls may take to end after SIGTERM; default 20000'],
  warm: ['--warm <n>', 'how many idle agents stay in memory; default 200'],
  tokens: ['--tokens <file>', 'JSON: tokens of clients, each with its role or { role, agents, metadata }'],
  register: ['--register <url>', 'admin address of the engine, to tell it where the workers are'],
  url: ['--url <url>', 'where the engine reaches the workers: the balancer in front of them'],
  spawn: ['--spawn <definition>', 'start a new agent of the server; its id is <id>, or a generated one'],
  steer: ['--steer', 'send into the current run before its next step; starts a run if idle'],
  'follow-up': ['--follow-up', 'send into the current run when the agent finishes'],
  'no-wait': ['--no-wait', 'exit once the server has the message'],
  acp: ['--acp', 'also speak the Agent Client Protocol, at /acp'],
  'ag-ui': ['--ag-ui', 'also speak AG-UI, at /ag-ui'],
  mcp: ['--mcp', 'also offer the agents as MCP tools, at /mcp'],
  http: ['--http', 'over HTTP at /mcp instead of standard input and output'],
  stately: ['--stately', 'send the Stately inspector’s messages at /stately'],
  'no-serve': ['--no-serve', 'without the inspector page'],
  stay: ['--stay', 'keep the page up until Ctrl-C; default at a terminal'],
  arm: ['--arm <name>', 'a variant of the agent to try; repeatable; the first is the baseline'],
  trials: ['--trials <n>', 'how often each task is tried in each arm; default 1'],
  seed: ['--seed <n>', 'the seed that those of the trials are derived from; default 1'],
  concurrency: ['--concurrency <n>', 'how many trials run at the same time; default 4'],
  budget: ['--budget <usd>', 'stop before more than this is spent, in US dollars'],
  prices: ['--prices <file>', 'JSON with prices of models, by their ids'],
  judge: ['--judge <provider:id>', 'the model for checks that need a judge'],
  definition: ['--definition <file>', 'a module that exports the agent, or a function that makes it'],
  resume: ['--resume <folder>', 'continue an evaluation with its arms, trials and seed'],
  record: ['--record', 'keep what models reply, for --replay'],
  replay: ['--replay <folder>', 'replay the replies recorded there; no model is called'],
  docker: ['--docker <image>', 'run all commands in containers of this image, without a network'],
  against: ['--against <what>', 'compare with the agent of another module, or of a commit'],
  changed: ['--changed', 'compare with the agent of the last commit'],
  publish: ['--publish <file>', 'write the figures into the table of a page, such as a README.md'],
  keep: ['--keep', 'also keep the folders of trials that passed'],
  format: ['--format <name>', 'picture format: mermaid, svg or json; show also has text'],
  direction: ['--direction <way>', 'direction of a chart: down or right; default: down'],
  actors: ['--actors', 'who called whom in a session and its sub-agents'],
  detail: ['--detail <how>', 'detail of a chart: overview or full; default: overview for an SVG'],
  theme: ['--theme <name>', 'terminal colours: dark, light or none; default: detected'],
  'no-bell': ['--no-bell', 'no terminal bell when the agent waits for you'],
  json: ['--json', 'print only JSON'],
  yes: ['--yes, -y', 'do not ask: run commands, delete'],
  help: ['--help, -h', 'show this help; for one command: escapement help <command>'],
  version: ['--version, -V, -v', 'the version'],
} as const

export type OptionName = keyof typeof options

/** Options that may be repeated. Their values are a list. */
const repeatedOptions = ['arm'] as const

export type RepeatedOption = (typeof repeatedOptions)[number]

export const isRepeated = (name: OptionName): name is RepeatedOption =>
  (repeatedOptions as readonly OptionName[]).includes(name)

/** Names of the options that take a value. */
export type ValueOption = {
  [O in OptionName]: (typeof options)[O][0] extends `${string}<${string}` ? O : never
}[OptionName]

export const takesValue = (name: OptionName): boolean => options[name][0].includes('<')
