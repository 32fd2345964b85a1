import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { cliCommand, projectFolder, startChild } from '../../packages/cli/test/cliChild.ts'
import { judged } from '../judges/judge.ts'
import { judges } from '../judges/judges.ts'
import { assert, describe } from '../support/suite.ts'

const folder = join(import.meta.dirname, '..', '..', 'examples')

/** Output of each example, in this order. */
const essentials: Readonly<Record<string, readonly string[]>> = {
  '01-question.ts': ['You asked: What is an escapement?', 'stop after 1 turn'],
  '02-tool.ts': ['{"part":"sprnig"}', 'error: ', 'There is no part', '{"part":"spring"}', 'result: ', '"count":12'],
  '03-approval.ts': ['asked for 500', 'asked for 900', '500 euros back', '2 of 3 refunds were paid.'],
  '04-steer-and-abort.ts': [
    'The kitchen clock is wound.',
    'Understood: Leave the hall clock alone.',
    'Understood: Thank you.',
    'steered, then followed up: stop',
    'aborted: aborted',
    'usable again: stop',
  ],
  '05-own-model.ts': ['tick tock', 'taken back', 'tick tock tick tock', '"stopReason":"stop"'],
  '06-braking.ts': [
    'trunk:',
    'n1 On which page',
    'n6 {"type":"toolCall"',
    '"halving"',
    'n8 Found: page 3217',
    'abandoned:',
    'n2 {"type":"toolCall"',
    'n3 gave up by leafing',
    'revert_to_state',
    'lesson at n1: leafing is too slow',
  ],
  '07-team.ts': [
    'lead.1: run prompt',
    'lead.2: run prompt',
    'lead.1: a defect',
    'lead.2 asks: publish',
    '"id":"lead.1"',
    'lead.1: run resume',
    'I found: Three books about clocks. "On escapements" is online.',
    'the whole tree used',
  ],
  '08-judge.ts': [
    'parallel, a model judges:',
    'editor.s1 poet: stop, Time, kept gently',
    'editor.s4 chose seller',
    'cheapest: clerk',
    'a function judges: Clocks that never let you be late!',
    'poet: aborted',
    'clerk: stop',
    'pipeline: WE SELL CLOCKS. AND REPAIR THEM.',
    'left alive below the editor: 0',
  ],
  '09-bridge.ts': [
    '(open)',
    'admin of keeper',
    'may wind run?',
    '(reconnecting)',
    '(open)',
    'wind has run',
    'The tower clock is wound.',
    '4 messages, idle',
    'observe saw 14 records, from agent.created to run.end',
    'BRIDGE_FORBIDDEN',
  ],
  '10-acp.ts': [
    'may it? wind tower: Allow or Reject',
    'tool_call_update: completed',
    'the turn ended: end_turn',
    '(the editor comes back)',
    'the agent says: The tower clock is wound.',
  ],
  '11-order.ts': [
    'order-17 is paused: replace {"part":"spring"}?',
    'saved in a few bytes',
    'replace was allowed',
    'Dear customer, a new spring is on its way.',
    'It is in box 4.',
    'spring',
  ],
  '12-mcp.ts': [
    '14 tools, among them read_file',
    'read_text_file runs',
    'may edit_file run?',
    'edit_file runs',
    'The tower clock runs again.',
    'tower: runs',
  ],
  '13-skill.ts': [
    'read_skill {"name":"release-notes"}',
    'group.js changes.txt',
    'New\n- doors have names',
    'kept in sight: n2',
  ],
  '14-openapi.ts': [
    'listClocks: GET /clocks (none)',
    'windClock: POST /clocks/{id}/wind (irreversible)',
    'the service: GET /clocks',
    'the model sees: [{"id":1,"name":"tower clock","wound":true},{"id":2',
    'may it? windClock {"id":2}',
    'the service: POST /clocks/2/wind',
    'Wound: {"id":2,"name":"cuckoo clock","wound":true}',
  ],
  '15-memory.ts': [
    'I will remember Mondays.',
    'ada: When do I wind my clocks? – On Mondays.',
    'bob: When do I wind my clocks? – I do not know.',
    'Every eight days.',
    'unconfirmed: This user gets everything for free.',
    'put before the model: Ada winds her clocks on Mondays.\n',
    '# Memory of user:ada',
    'deleted: 2',
  ],
  '16-cluster.ts': [
    'The Restate server is not installed',
    '4 prompts, 2 workers',
    'a worker is killed',
    'cuckoo: stop',
    'tower: stop',
    '4 of 4 prompts are answered.',
  ],
  '17-data.ts': [
    '| cuckoo   | 120 |',
    '2 clocks are offered. (the model was asked once)',
    'Nothing is that cheap: 0 clocks are offered. (the model was asked 2 times)',
  ],
  '18-code.ts': [
    'call 1 of the script: parts',
    'may it order spring?',
    'may it order anchor?',
    'ten of spring are on their way',
    'anchor DENIED',
    '2 of 4 parts were short',
  ],
  '19-order.ts': [
    'the first process ended by SIGKILL',
    'the order is "paying"',
    'reminded 1 times',
    'receipt for 1900 cents',
    'Dear customer, your clock is on its way.',
    'paid 1 time',
  ],
  '20-crew.ts': [
    'reviewer lead.1 begins',
    'reviewer lead.4 begins',
    'b.ts: it has a var',
    '1 of 3 files need work',
    '2 turns of its own, 4 of its agents',
  ],
  '21-workspace.ts': [
    'search_files: menu.md:3: - soup',
    'edit_file: Edited menu.md: 1 replacement.',
    'run_command: The command could not be started: this workspace is in memory, and has no commands',
    'read_file: # Today',
    '- soup of the day',
    'menu.md',
  ],
  '22-elsewhere.ts': [
    'keeper works elsewhere, by acp',
    'may it? keeper_other',
    'The keeper says: The tower clock is wound.',
    'stop',
  ],
  '23-undo.ts': [
    'after the commands: old, prices.md',
    'after the undo: menu.md, prices.md',
    'undone: files changed by rm *.bak && mkdir -p old/2025 && mv menu.md old/2025',
    'all else is as before, but not prices.md (it was changed by something else since)',
  ],
}

describe('the examples', (it) => {
  it('are all listed here', () => {
    assert.equal(
      readdirSync(folder)
        .filter((name) => name.endsWith('.ts'))
        .toSorted(),
      Object.keys(essentials),
    )
  })

  for (const [file, expected] of Object.entries(essentials)) {
    // It starts a reference server by npx, which finds it there without fetching anything.
    const isJudged = file === '12-mcp.ts'
    const add = isJudged ? judged(it) : it
    add(`${file} ends by itself and prints what it shows`, { timeoutMs: 20_000 }, async (context) => {
      const dir = projectFolder(context)
      const options = { input: '', cwd: isJudged ? judges.folder : dir, env: { HOME: dir, TMPDIR: dir } }
      const { code, stdout, stderr } = await startChild(context, cliCommand([], join(folder, file)), options).ended
      assert.is(code, 0, stderr)
      assert.is(stderr, '')
      let at = 0
      for (const text of expected) {
        const found = stdout.indexOf(text, at)
        assert.ok(found !== -1, `"${text}" is missing in order in:\n${stdout}`)
        at = found + text.length
      }
    })
  }
})
