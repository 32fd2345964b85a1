import { membersOf, namesFor, type ChartDirection } from './chartMermaid.ts'
import type { ChartModel } from './chartModel.ts'
import { escapeMermaid } from './escapeText.ts'
import { overviewDrawing, shortest, type OverviewBox } from './overviewDrawing.ts'

const brakeWords = { open: 'brakes open', shut: 'brakes shut', brake: 'brakes' } as const

function brakeLines({ brakes }: OverviewBox): string[] {
  return (['open', 'shut', 'brake'] as const).flatMap((style) => {
    const names = brakes.filter((brake) => brake.style === style).map(({ name }) => name)
    return names.length === 0 ? [] : [`${brakeWords[style]}: ${names.join(', ')}`]
  })
}

const linesOf = (box: OverviewBox): string[] => [
  box.id,
  ...(box.runs.length === 0 || box.runs.length > 2 ? [] : [`runs ${box.runs.join(', ')}`]),
  ...box.lines,
  ...brakeLines(box),
]

/** Writes the overview of the agent machine as Mermaid's `stateDiagram-v2`. Transitions without an arrow are lines in the states. Pure. */
export function overviewMermaid(
  model: ChartModel,
  { direction = 'down' }: { direction?: ChartDirection } = {},
): string {
  const { boxes, arrows, start } = overviewDrawing(model)
  const [stopsName, anyName] = ['(stops)', '(any)'] as const
  const nameOf = namesFor([...boxes.map(({ id }) => id), stopsName, anyName])
  const [stops, any] = [nameOf(stopsName), nameOf(anyName)]
  const stateLines = (box: OverviewBox, indent: string): string[] =>
    linesOf(box).map((line) => `${indent}${nameOf(box.id)} : ${escapeMermaid(line)}`)
  return [
    '---',
    `title: ${JSON.stringify(escapeMermaid(model.title))}`,
    '---',
    'stateDiagram-v2',
    `  direction ${direction === 'down' ? 'TB' : 'LR'}`,
    ...(start === undefined ? [] : [`  [*] --> ${nameOf(start)}`]),
    ...boxes.filter(({ isStop }) => !isStop).flatMap((box) => stateLines(box, '  ')),
    `  state "stops" as ${stops} {`,
    ...boxes.filter(({ isStop }) => isStop).flatMap((box) => stateLines(box, '    ')),
    '  }',
    `  ${any} : any state`,
    ...arrows.map(({ from, to, words }) => `  ${nameOf(from)} --> ${nameOf(to)} : ${escapeMermaid(shortest(words))}`),
    `  ${any} --> ${stops}`,
    ...membersOf('any', [any]),
    ...membersOf(
      'active',
      boxes.filter(({ id }) => model.active.includes(id)).map(({ id }) => nameOf(id)),
    ),
    '',
  ].join('\n')
}
