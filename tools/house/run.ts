import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { agentShapes, ideas, namersOf, oddComments, stagePlaces } from './ideas.ts'
import { membersOf, publicNames } from './names.ts'
import { drawing } from './rooms.ts'
import { readSources } from './sources.ts'

const lists = process.argv.includes('--lists')
const core = readSources('src')
const all = [...core, ...readSources('packages/*/src')]
const { lines, rooms, arrows, up, circles } = drawing(core)
const walk = JSON.parse(
  execFileSync(process.execPath, [join(import.meta.dirname, 'walk.ts')], { encoding: 'utf8' }),
) as Record<'calls' | 'files' | 'fileMoves' | 'roomMoves' | 'hostEntered', number>
const doors = publicNames()
const docs = all.flatMap(({ docs: each }) => each)
const odd = oddComments(all)
const share = ((odd.length / docs.length) * 100).toFixed(1)
const places = stagePlaces(all)
const shapes = agentShapes(all)
const names = membersOf('AgentHost', all)
const distinct = new Set([...doors.values()].flatMap((each) => [...each]))

const rows: readonly (readonly [string, string | number, (readonly string[])?])[] = [
  ['core: lines', lines],
  ['core: rooms', rooms],
  ['core: arrows', arrows],
  ['core: arrows up', up.length, up],
  ['core: circles', circles.length, circles.map((members) => members.join(' '))],
  ['prompt to request: files', walk.files],
  ['prompt to request: changes of room', walk.roomMoves],
  ['prompt to request: the host is entered', walk.hostEntered],
  ['prompt to request: calls', walk.calls],
  ['places that tell the stage of a call', places.length, places],
  ['shapes of an agent', shapes.length, shapes],
  ['names on the host', names.size, [...names]],
  ['public names: main door', doors.get('.')?.size ?? 0],
  ['public names: all doors', distinct.size],
  ...ideas.map((idea) => {
    const files = namersOf(idea, all)
    return [`${idea.name}: files that name it outside its folder`, files.length, files] as const
  }),
  ['doc comments', docs.length],
  ['doc comments that begin with What, Whether, Whoever, Nobody, Of', `${odd.length} (${share} %)`, odd],
]
for (const [name, figure, list = []] of rows) {
  process.stdout.write(`${name.padEnd(66)}${figure}\n`)
  if (lists) for (const each of list) process.stdout.write(`    ${each}\n`)
}
