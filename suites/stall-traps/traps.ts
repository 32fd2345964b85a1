import type { Input, SeenCall } from '../embedded/seenRequest.ts'

/** A call that the embedded model makes. */
export interface Call {
  readonly name: string
  readonly input: Input
}

/** Knowledge of the embedded model about a task: where it looks, where it gets stuck, and how it gets out. */
export interface Trap {
  readonly look: readonly Call[]
  /** Made in turn, and again and again, until it sees a reason to stop. */
  readonly tempting: readonly Call[]
  /** Result of the last of them while it does not help. */
  readonly fails: RegExp
  /** Made in order once it looks for another way; what the calls before came to may be needed. */
  readonly wayOut: readonly (Call | ((made: readonly SeenCall[]) => Call))[]
  /** Lesson that it would write down if it gave the attempts up itself. */
  readonly lesson: string
}

const read = (path: string): Call => ({ name: 'read_file', input: { path } })
const script = (name: string, args: readonly string[] = []): Call => ({
  name: 'run_script',
  input: args.length === 0 ? { name } : { name, args },
})
const write = (path: string, content: string): Call => ({ name: 'write_file', input: { path, content } })

/** Writes what was read last, with something in it changed. */
const rewrite =
  (path: string, change: (text: string) => string) =>
  (made: readonly SeenCall[]): Call =>
    write(path, change(made.findLast(({ input }) => input['path'] === path)?.text ?? ''))

const rewriteJson = (path: string, change: (value: Record<string, unknown>) => unknown) =>
  rewrite(path, (text) => `${JSON.stringify(change(parsed(text)), null, 2)}\n`)

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** By the id of the task. */
export const traps: Readonly<Record<string, Trap>> = {
  'stale-lock': {
    look: [read('README.md')],
    tempting: [script('build')],
    fails: /another build is running/,
    wayOut: [read('build.lock'), script('unlock'), script('build')],
    lesson: 'building again does not help while build.lock is there: see who holds it',
  },
  'dead-mirror': {
    look: [read('README.md')],
    tempting: [script('fetch')],
    fails: /timed out/,
    wayOut: [
      read('sources.json'),
      rewriteJson('sources.json', (sources) => ({ ...sources, use: 'mirror' })),
      script('fetch'),
    ],
    lesson: 'the main server does not answer: sources.json may have another',
  },
  'dead-flag': {
    look: [read('README.md')],
    tempting: [script('report', ['--format', 'csv'])],
    fails: /report\.json written/,
    wayOut: [
      read('report.config.json'),
      rewriteJson('report.config.json', (config) => ({ ...config, format: 'csv' })),
      script('report'),
    ],
    lesson: 'the argument --format does nothing: the format is set elsewhere',
  },
  'generated-file': {
    look: [read('src/messages.mjs')],
    tempting: [
      write('src/messages.mjs', "export const greeting = 'Hello, and welcome'\nexport const farewell = 'Good bye'\n"),
      script('check'),
    ],
    fails: /misspelt/,
    wayOut: [
      read('generate.mjs'),
      read('messages.txt'),
      rewrite('messages.txt', (text) => text.replace('Helo', 'Hello')),
      script('check'),
    ],
    lesson: 'src/messages.mjs is overwritten each time: it is made from something else',
  },
  'port-in-use': {
    look: [read('settings.json')],
    tempting: [script('smoke')],
    fails: /EADDRINUSE/,
    wayOut: [
      read('ports.json'),
      rewriteJson('settings.json', (settings) => ({ ...settings, name: 'orders', port: 8090 })),
      script('smoke'),
    ],
    lesson: 'port 8080 stays taken: the service needs another',
  },
  'shadowed-config': {
    look: [read('config/default.json')],
    tempting: [write('config/default.json', '{\n  "timeoutSeconds": 30,\n  "retries": 3\n}\n'), script('show')],
    fails: /timeoutSeconds: 5/,
    wayOut: [
      read('settings.mjs'),
      read('.servicerc.json'),
      rewriteJson('.servicerc.json', (settings) => ({ ...settings, timeoutSeconds: 30 })),
      script('show'),
    ],
    lesson: 'config/default.json is not what counts: another file comes after it',
  },
  'dirty-test': {
    look: [read('ledger.mjs')],
    tempting: [script('test')],
    fails: /must have 1 entry/,
    wayOut: [
      read('ledgerTest.mjs'),
      rewrite('ledgerTest.mjs', (text) =>
        `import { rmSync } from 'node:fs'\n${text}`.replace(
          'const entries',
          "rmSync('scratch', { recursive: true, force: true })\nconst entries",
        ),
      ),
      script('test'),
    ],
    lesson: 'running the test again adds an entry each time: it has to begin with an empty ledger',
  },
  'cached-build': {
    look: [read('title.txt')],
    tempting: [script('build')],
    fails: /up to date/,
    wayOut: [read('build.mjs'), script('build', ['--no-cache'])],
    lesson: 'the build takes what it has: its cache must be left out',
  },
  'read-only': {
    look: [read('draft.html')],
    tempting: [script('publish')],
    fails: /EACCES/,
    wayOut: [read('docs/publishing.md'), script('unprotect'), script('publish')],
    lesson: 'public/index.html is protected: publishing again does not help',
  },
  'endless-retry': {
    look: [],
    tempting: [script('upload')],
    fails: /429/,
    wayOut: [
      read('upload.json'),
      rewriteJson('upload.json', (settings) => ({ ...settings, batchSize: 10 })),
      script('upload'),
    ],
    lesson: 'trying later does not help: the batches are too large',
  },
  'expired-token': {
    look: [read('release.json')],
    tempting: [script('deploy')],
    fails: /401/,
    wayOut: [read('token.json'), script('renew'), script('deploy')],
    lesson: 'the token is refused: it has to be renewed',
  },
  'wrong-order': {
    look: [],
    tempting: [script('migrate')],
    fails: /no such table/,
    wayOut: [
      read('migrations/order.json'),
      write('migrations/order.json', '["createUsers", "addEmail"]\n'),
      script('migrate'),
    ],
    lesson: 'addEmail needs the table users: the order of the migrations is wrong',
  },
}
