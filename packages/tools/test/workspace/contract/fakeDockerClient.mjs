// Stands for the client of Docker and its engine: runs everything on this machine. See fakeDocker.ts.
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [base, verb, ...rest] = process.argv.slice(2)
/** Options before the first word that is none, and what follows. */
function parsed(all) {
  const options = {}
  const env = {}
  let at = 0
  for (; all[at]?.startsWith('--'); at++) {
    const [, option, value = ''] = /^(--[a-z-]+)=?(.*)$/s.exec(all[at])
    if (option === '--env') env[value.slice(0, value.indexOf('='))] = value.slice(value.indexOf('=') + 1)
    else options[option] = value
  }
  return { options, env, words: all.slice(at) }
}

const { options, env, words } = parsed(rest)
appendFileSync(join(base, 'calls.jsonl'), `${JSON.stringify([verb, ...rest])}\n`)
const folderOf = (name) => join(base, 'containers', name)
const fail = (said) => {
  process.stderr.write(`Error response from daemon: ${said}\n`)
  process.exit(1)
}
const kill = (pid) => {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {}
}
/** Ends every process of a container, and forgets it. */
function remove(name) {
  const folder = folderOf(name)
  for (const pid of existsSync(folder) ? readdirSync(folder) : []) kill(Number(pid))
  rmSync(folder, { recursive: true, force: true })
}

/** Runs a program in a container, as the leader of a session, and passes its streams on until it ends. */
function run(name, [command, ...args], { cwd, own, input }) {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: `${join(base, 'bin')}:${process.env.PATH}`, HOME: '/tmp', ...own },
    detached: true,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  child.once('error', (thrown) => fail(thrown.message))
  if (child.pid === undefined) return child
  writeFileSync(join(folderOf(name), String(child.pid)), '')
  if (input) process.stdin.pipe(child.stdin)
  child.stdin?.on('error', () => {})
  child.stdout.pipe(process.stdout)
  child.stderr.pipe(process.stderr)
  return child
}

if (verb === 'run') {
  const name = options['--name']
  const [image, ...args] = words
  if (image === 'missing') fail(`No such image: ${image}`)
  mkdirSync(folderOf(name))
  writeFileSync(join(base, `${name}.json`), JSON.stringify(env))
  const child = run(name, [options['--entrypoint'], ...args], { cwd: '/', own: env, input: true })
  child.once('close', (code) => {
    remove(name)
    process.exit(code ?? 137)
  })
} else if (verb === 'exec') {
  const [name, ...command] = words
  if (!existsSync(folderOf(name))) fail(`container ${name} is not running`)
  const child = run(name, command, {
    cwd: options['--workdir'] ?? '/',
    own: { ...JSON.parse(readFileSync(join(base, `${name}.json`), 'utf8')), ...env },
    input: rest.includes('--interactive'),
  })
  child.once('close', (code) => {
    rmSync(join(folderOf(name), String(child.pid)), { force: true })
    process.exitCode = code ?? 137
  })
} else if (verb === 'inspect') {
  if (!existsSync(folderOf(words[0]))) fail(`No such container: ${words[0]}`)
  process.stdout.write('true\n')
} else if (verb === 'rm') {
  remove(words[0])
}
