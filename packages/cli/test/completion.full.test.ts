import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { assert, describe, isCi, type CaseContext } from '../../../test/support/suite.ts'
import { fullOnly } from '../../../test/support/fullOnly.ts'
import { commands } from '../src/commandList.ts'
import { cleanEnv, projectFolder } from './cliChild.ts'
import { startCli } from './cliInProcess.ts'
import { shells } from './shells.ts'

fullOnly('shells')

/** A folder with a script of the completion, a program that lists two sessions, and a file. */
async function prepared(context: CaseContext, shell: string): Promise<string> {
  const cwd = projectFolder(context, { 'agents.ts': '', 'agents/one.ts': '' })
  const cli = startCli(context, ['completion', shell])
  assert.is(await cli.ended, 0)
  writeFileSync(join(cwd, 'script'), cli.stdout)
  writeFileSync(join(cwd, 'escapement'), `#!/bin/sh\necho '{"id":"s1","title":"it"}'\necho '{"id":"s2"}'\n`)
  chmodSync(join(cwd, 'escapement'), 0o755)
  return cwd
}

function answer(cwd: string, program: string, args: readonly string[]): string {
  const env = cleanEnv(cwd)
  return execFileSync(program, args, {
    cwd,
    env: { ...env, PATH: `${cwd}${delimiter}${env['PATH']}` },
    encoding: 'utf8',
  })
}

/** The words that a shell offers for the last of these. */
const offers: Readonly<Record<string, (cwd: string, words: readonly string[]) => readonly string[]>> = {
  bash: (cwd, words) =>
    answer(cwd, 'bash', [
      '-c',
      'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _escapement; printf "%s\\n" "${COMPREPLY[@]}"',
      'bash',
      ...words,
    ]).split('\n'),
  fish: (cwd, words) =>
    answer(cwd, 'fish', ['--no-config', '-c', `source ./script; complete -C '${words.join(' ')}'`])
      .split('\n')
      .map((line) => line.split('\t')[0]!),
  zsh: (cwd, words) =>
    answer(cwd, 'zsh', [
      '-f',
      '-c',
      // What the functions of its completion would be given.
      `compdef() {}
_describe() { print -l -- \${\${(P)2}%%:*} }
_arguments() { [[ $words[CURRENT] == -* ]] && print -l -- \${\${(M)@:#--*}%%\\[*} || { [[ $@[-1] == *_sessions ]] && _escapement_sessions; [[ $@[-1] == *_files ]] && print -l -- * } }
compadd() { print -l -- \${(P)2} }
source ./script; words=("$@"); CURRENT=$#; _escapement; true`,
      'zsh',
      ...words,
    ]).split('\n'),
}

const offered = (shell: string, cwd: string, ...words: readonly string[]): readonly string[] =>
  offers[shell]!(cwd, words)
    .filter((word) => word !== '' && word.startsWith(words.at(-1)!))
    .toSorted()

describe('the completion of a shell', (it) => {
  for (const shell of Object.keys(offers)) {
    const body = async (context: CaseContext): Promise<void> => {
      const cwd = await prepared(context, shell)
      assert.equal(offered(shell, cwd, 'escapement', ''), Object.keys(commands).toSorted())
      assert.equal(offered(shell, cwd, 'escapement', 'se'), ['send', 'serve', 'sessions'])
      assert.equal(offered(shell, cwd, 'escapement', 'show', '--t'), ['--theme', '--turn'])
      assert.equal(offered(shell, cwd, 'escapement', 'show', 's'), ['s1', 's2'])
      assert.ok(offered(shell, cwd, 'escapement', 'serve', 'agents').some((word) => word.startsWith('agents.ts')))
      assert.equal(offered(shell, cwd, 'escapement', 'send', 's'), [])
    }
    const title = `offers commands, options, sessions and files: ${shell}`
    if (shell === 'bash' || shells.isThere() || isCi()) it(title, { timeoutMs: 30_000 }, body)
    else it.skip(`${title} (skipped: ${shells.advice})`)
  }

  it('is refused for other shells, by name', async (context) => {
    const cli = startCli(context, ['completion', 'tcsh'])
    assert.is(await cli.ended, 2)
    assert.match(cli.stderr, /bash, zsh or fish; it is "tcsh"/)
  })
})
