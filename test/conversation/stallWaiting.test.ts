import { readShellChars, shellCommands } from '../../src/conversation/brakes/stall/shellCommands.ts'
import { waits } from '../../src/conversation/brakes/stall/waiting.ts'
import { assert, describe } from '../support/suite.ts'

const run = (command: unknown): boolean => waits({ name: 'run_command', input: { command } })

describe('a command that waits', (it) => {
  for (const command of [
    'sleep 60',
    'sleep 60 && echo done',
    'echo a; sleep 1',
    'cd out && sleep 5 && ls',
    '/bin/sleep 5',
    'sudo -n sleep 5',
    'TZ=UTC sleep 5',
    'sleep "5"',
    'sleep 5 # for the build',
    'echo $(sleep 5)',
    'npm run a & npm run b & wait',
    'while true; do date; done',
    'while ! curl -sf localhost; do :; done',
    'while [ $n -lt 9 ]; do n=$((n+1)); sleep 1; done',
    'until test -f done; do :; done',
    'for i in 1 2 3; do sleep 20; done',
    'if ! test -f a; then sleep 3; fi',
    '{ sleep 5; ls; }',
    'watch -n 5 ls',
    'tail -f log',
    'tail -n 3 -F log',
    'tail -fn20 log',
    'timeout 60 tail -f log | grep done',
    'timeout -k 5 60 tail --follow=name log',
    'tail -f log 2>&1 | head',
    'journalctl -u app --follow',
    'bash -lc "sleep 5"',
    'bash -c \'sh -c "sleep 5"\'',
    'ssh host sleep 5',
    'Start-Sleep -Seconds 5',
    'powershell -Command "Start-Sleep 5"',
    'while ($true) {Start-Sleep 5}',
    'Get-Content log -Wait',
    'timeout /t 60',
    'cmd /c timeout /t 60',
    'python3 -c "import time; time.sleep(5)"',
    'node -e "setTimeout(() => {}, 5000)"',
    'read -t 5',
    'docker wait box',
    'docker compose logs -f web',
    'kubectl wait --for=condition=ready pod/a',
    'kubectl rollout status deploy/a',
    'kubectl get pods -w',
    'gh run watch 12',
    'gh pr checks --watch',
    'aws ec2 wait instance-running',
    'npx wait-on http://localhost:3000',
    'cat <<END > notes\nsome text\nEND\nsleep 5',
  ])
    it(`is: ${command}`, () => assert.is(run(command), true))

  for (const command of [
    '',
    'ls',
    'echo sleep 60',
    'echo "sleep 60"',
    "git commit -m 'wait; sleep 5'",
    'grep -r sleep src',
    '# sleep 5',
    'ls # and then; sleep 5',
    'sleep 5 &',
    'cat sleep',
    'sleepy 5',
    'tail -n 20 log',
    'tail -20 follow.log',
    'timeout 60 npm test',
    'time npm test',
    'while read line; do echo $line; done < a',
    'while [ $n -lt 9 ]; do n=$((n+1)); done',
    'echo ${wait}',
    'cat <<END > run.sh\nsleep 5\nEND\nls',
    "cat <<-'END'\n\tsleep 5\n\tEND\nls",
    'cat <<< sleep',
    'python3 app.py',
    'bash sleep.sh',
    'docker logs web',
    'docker run wait',
    'kubectl get pods',
    'gh run list',
    'npm test 2>&1',
    'npm test &> out',
  ])
    it(`is not: ${command}`, () => assert.is(run(command), false))

  it('is told from any argument that holds one, as a text or as words', () => {
    for (const field of ['command', 'cmd', 'commands', 'script'])
      assert.is(waits({ name: 'x', input: { [field]: 'sleep 5' } }), true, field)
    assert.is(waits({ name: 'x', input: { command: ['bash', '-lc', 'sleep 5; ls'] } }), true)
    assert.is(waits({ name: 'x', input: { command: ['echo', 'sleep 5; ls'] } }), false)
    assert.is(waits({ name: 'x', input: { text: 'sleep 5' } }), false)
  })

  it('is told from the name of a tool, or of its action', () => {
    assert.is(waits({ name: 'Wait', input: {} }), true)
    assert.is(waits({ name: 'browser', input: { action: 'wait' } }), true)
    assert.is(waits({ name: 'waiter', input: { action: 'click' } }), false)
  })

  it('is none of arguments that are no command', () => {
    for (const input of [
      null,
      undefined,
      5,
      'sleep 5',
      ['sleep 5'],
      { command: 5 },
      { command: { sleep: 5 } },
      { action: ['wait'] },
    ])
      assert.is(waits({ name: 'x', input }), false)
  })

  it('is looked for in the beginning of a long text', () => {
    assert.is(run(`${' '.repeat(readShellChars - 8)}sleep 5;${'x'.repeat(1_000_000)}`), true)
    assert.is(run(`${' '.repeat(readShellChars)}sleep 5`), false)
    let nested = 'sleep 5'
    for (let depth = 0; depth < 9; depth++) nested = `sh -c ${nested}`
    assert.is(run(nested), false)
    assert.is(run('sh -c '.repeat(200_000)), false)
  })
})

describe('the commands of a shell text', (it) => {
  const words = (text: string) => shellCommands(text).map((command) => command.words.join('|'))

  it('are split where a shell splits them', () => {
    assert.equal(words('a b;c\nd | e && f'), ['a|b', 'c', 'd', 'e', 'f'])
    assert.equal(words(`a 'b; c' "d \\" e" f\\ g`), [`a|b; c|d " e|f g`])
    assert.equal(words('a \\\n b'), ['a|b'])
    assert.equal(words('open "never closed'), ['open|never closed'])
    assert.equal(words('cat <<A <<B\n1\nA\n2\nB\nls'), ['cat', 'ls'])
  })

  it('say which of them nobody waits for', () => {
    const [first, second, third] = shellCommands('a & b && c')
    assert.equal(
      [first, second, third].map((command) => command?.isBackground),
      [true, false, false],
    )
  })
})
