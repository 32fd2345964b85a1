/** Example command lines by command: the text typed after `escapement`, and its effect. */
export const examples: Readonly<Record<string, readonly (readonly [line: string, what: string])[]>> = {
  init: [['init', 'a configuration and an agent in this folder']],
  run: [
    ['run "fix the failing test"', 'one task, with the model whose key is set'],
    ['run "update the README" --model anthropic:claude-sonnet-4-5 --yes', 'without being asked about commands'],
  ],
  chat: [
    ['chat', 'with the first agent of the configuration'],
    ['chat -c', 'where the newest session of the folder was left'],
  ],
  resume: [['resume 5dGm2k', 'a session that was stopped or killed']],
  demo: [
    ['demo', 'a project is repaired, without a key'],
    ['demo stall', 'an agent that goes in circles is helped out'],
  ],
  eval: [['eval stall-traps --arm off --arm on=stall --trials 3', 'a suite of the package, with and without a brake']],
  chart: [
    ['chart ./agents.ts --out agent.svg', 'the statechart of an agent'],
    ['chart 5dGm2k --actors', 'who called whom in a session'],
  ],
  sessions: [
    ['sessions --failed --limit 10', 'the newest ten that failed'],
    ['sessions search "flaky test"', 'where something was said'],
    ['sessions move postgres://localhost/agents', 'all of them to another store'],
  ],
  show: [
    ['show 5dGm2k', 'what was said, done and spent'],
    ['show 5dGm2k --turn 4 --request', 'exactly what the model was sent'],
  ],
  spend: [
    ['spend user --since 7d', 'what each user has spent this week'],
    ['spend model', 'what each model has cost'],
  ],
  inspect: [['inspect', 'all sessions of the folder, in a browser']],
  replay: [['replay 5dGm2k --speed 10', 'as it went, ten times as fast']],
  fork: [['fork 5dGm2k --at n12', 'a new session that shares the past up to n12']],
  delete: [['delete 5dGm2k', 'a session, after you confirmed it']],
  memory: [
    ['memory list --scope user:42', 'what agents remember about somebody'],
    ['memory delete m17', 'one record'],
  ],
  export: [
    ['export 5dGm2k --html --out session.html', 'a page for any browser'],
    ['export 5dGm2k --test --out wrong.test.ts', 'a test that fails until it is mended'],
  ],
  import: [['import session.jsonl', 'what export wrote']],
  repair: [['repair .escapement/5dGm2k.jsonl', 'a log with a damaged end']],
  serve: [
    ['serve ./agents.ts --port 8080', 'agents on a WebSocket, with the inspector page'],
    ['serve --host 0.0.0.0 --token secret', 'beyond this machine'],
  ],
  wake: [['wake ./agents.ts', 'agents whose schedules are due']],
  worker: [['worker ./agents.ts --logs postgres://db/agents --register http://engine:9070', 'one of many']],
  gateway: [['gateway --logs postgres://db/agents --port 8080', 'one address for the agents of all workers']],
  cluster: [['cluster ./agents.ts --workers 3', 'an engine, three workers and a gateway on this machine']],
  attach: [
    ['attach 127.0.0.1:8080', 'choose an agent of the server and chat with it'],
    ['attach 127.0.0.1:8080 --spawn support', 'a new agent'],
  ],
  send: [['send 127.0.0.1:8080 coder-1 "fix the failing test"', 'one message and its answer']],
  acp: [['acp ./agents.ts', 'what an editor starts']],
  mcp: [['mcp ./agents.ts', 'what a client of MCP starts']],
  completion: [
    ['completion bash >> ~/.bashrc', 'for bash'],
    ['completion zsh > ~/.zfunc/_escapement', 'for zsh, with ~/.zfunc in fpath'],
    ['completion fish > ~/.config/fish/completions/escapement.fish', 'for fish'],
  ],
}
