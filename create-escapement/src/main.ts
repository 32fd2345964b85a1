#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { askFor } from './askFor.ts'
import { CreateError, createProject } from './createProject.ts'
import { readArguments } from './readArguments.ts'
import { shellWord } from './shellWord.ts'
import { templateNames, templates } from './templates.ts'

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }

const help = `Usage: create-escapement [folder] [--template <name>]

Starts a project with escapement in a new or empty folder.

Templates:
${templateNames.map((name) => `  ${name.padEnd(8)}${templates[name]}`).join('\n')}

Options:
  --template, -t <name>  without it, it is asked for
  --help, -h             this text
  --version, -v          the version
`

/** How the package manager that runs this one installs and starts. */
function commandsOf(userAgent: string): { readonly install: string; readonly run: string } {
  const manager = userAgent.split('/')[0] ?? ''
  if (manager === 'deno') return { install: 'deno install', run: 'deno task' }
  return ['pnpm', 'yarn', 'bun'].includes(manager)
    ? { install: `${manager} install`, run: `${manager} run` }
    : { install: 'npm install', run: 'npm run' }
}

async function main(): Promise<number> {
  const read = readArguments(process.argv.slice(2))
  if (read.type === 'mistake') return fail(read.message, 2)
  if (read.type !== 'create') {
    process.stdout.write(read.type === 'help' ? help : `${version}\n`)
    return 0
  }
  if ((read.folder === undefined || read.template === undefined) && !process.stdin.isTTY)
    return fail(`Say what to create, such as: create-escapement my-agents --template ${templateNames[0]}`, 2)
  const wish = await askFor(read, { input: process.stdin, output: process.stdout })
  if (wish === undefined) return fail('Nothing was written.', 130)
  const { folder } = await createProject(wish.folder, wish.template, {
    templatesFolder: join(root, 'templates'),
    version,
  })
  const { install, run } = commandsOf(process.env['npm_config_user_agent'] ?? '')
  const way = relative('', folder)
  process.stdout.write(`
${wish.template}: ${templates[wish.template]}, in ${folder}.

${way === '' ? '' : `  cd ${shellWord(way.startsWith('-') ? `./${way}` : way)}\n`}  ${install}
  ${run} start

It runs without a key. README.md says how to go on.
`)
  return 0
}

function fail(message: string, code: number): number {
  process.stderr.write(`create-escapement: ${message}\n`)
  return code
}

try {
  process.exitCode = await main()
} catch (thrown) {
  if (!(thrown instanceof CreateError)) throw thrown
  process.exitCode = fail(thrown.message, 1)
}
