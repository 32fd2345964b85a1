import { chartDrawing, type ChartDrawing, type DrawnArrow, type DrawnNode } from './chartDrawing.ts'
import type { ChartModel } from './chartModel.ts'
import { escapeMermaid } from './escapeText.ts'

/** Direction of a picture. */
export type ChartDirection = 'down' | 'right'

const reserved = new Set('as class classdef default direction end fork join choice note state style click'.split(' '))

/** Returns names that Mermaid can read, one for each id. */
export function namesFor(ids: readonly string[]): (id: string) => string {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const id of ids) {
    const plain = id.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '') || 's'
    const base = reserved.has(plain.toLowerCase()) || /^\d/.test(plain) ? `s_${plain}` : plain
    let name = base
    for (let i = 2; taken.has(name); i++) name = `${base}_${i}`
    taken.add(name)
    names.set(id, name)
  }
  return (id) => names.get(id)!
}

/** Writes a chart as Mermaid's `stateDiagram-v2`. Pure. */
export function chartMermaid(model: ChartModel, { direction = 'down' }: { direction?: ChartDirection } = {}): string {
  const drawing = chartDrawing(model)
  const nameOf = namesFor(drawing.nodes.map(({ id }) => id))
  const lines = [
    '---',
    `title: ${JSON.stringify(escapeMermaid(drawing.title))}`,
    '---',
    'stateDiagram-v2',
    `  direction ${direction === 'down' ? 'TB' : 'LR'}`,
    // The machine itself is the picture; those that it runs stand beside it.
    ...inside(model.id, drawing, nameOf, '  '),
    ...drawing.nodes
      .filter(({ kind, id }) => kind === 'machine' && id !== model.id)
      .flatMap((root) => stateLines(root, drawing, nameOf, '  ')),
    ...drawing.arrows
      .filter((arrow) => arrow.style !== 'start' && arrow.style !== 'runs')
      .map((arrow) => `  ${arrowLine(arrow, nameOf)}`),
    ...classLines(drawing, nameOf),
  ]
  return `${lines.join('\n')}\n`
}

type NameOf = (id: string) => string

function inside(parent: string, drawing: ChartDrawing, nameOf: NameOf, indent: string): string[] {
  const children = drawing.nodes.filter((node) => node.parent === parent)
  const starts = new Set(children.filter(({ kind }) => kind === 'initial').map(({ id }) => id))
  const isParallel = drawing.nodes.find(({ id }) => id === parent)?.kind === 'parallel'
  return [
    ...drawing.arrows.filter(({ from }) => starts.has(from)).map(({ to }) => `${indent}[*] --> ${nameOf(to)}`),
    ...children
      .filter(({ kind }) => kind !== 'initial')
      .flatMap((node, index) => [
        ...(isParallel && index > 0 ? [`${indent}--`] : []),
        ...stateLines(node, drawing, nameOf, indent),
      ]),
  ]
}

function stateLines(node: DrawnNode, drawing: ChartDrawing, nameOf: NameOf, indent: string): string[] {
  const name = nameOf(node.id)
  if (node.kind === 'junction') return [`${indent}state ${name} <<choice>>`]
  const label = [node.label, ...node.details].map(escapeMermaid)
  const isOuter = drawing.nodes.some(({ parent }) => parent === node.id)
  if (!isOuter) return label.map((line) => `${indent}${name} : ${line}`)
  return [
    `${indent}state "${label.join(' · ')}" as ${name} {`,
    ...inside(node.id, drawing, nameOf, `${indent}  `),
    `${indent}}`,
  ]
}

const arrowLine = ({ from, to, lines }: DrawnArrow, nameOf: NameOf): string => {
  const label = lines.map(escapeMermaid).join('<br/>')
  return `${nameOf(from)} --> ${nameOf(to)}${label === '' ? '' : ` : ${label}`}`
}

const classes = {
  active: 'fill:#fde68a,stroke:#b45309,color:#451a03,stroke-width:3px',
  shut: 'stroke-dasharray:4 4',
  any: 'fill:none,stroke-dasharray:2 3',
}

function classLines({ nodes, arrows }: ChartDrawing, nameOf: NameOf): string[] {
  const isOuter = new Set(nodes.map(({ parent }) => parent))
  const shut = new Set(arrows.filter(({ style }) => style === 'shut').map(({ to }) => to))
  const lit = nodes.filter(({ active, id }) => active === 'itself' && !isOuter.has(id))
  // Mermaid paints no class of a state that has others inside.
  const guarded = nodes.filter(({ id, active }) => shut.has(id) && !isOuter.has(id) && active === undefined)
  const any = nodes.filter(({ kind }) => kind === 'any')
  return Object.entries({ active: lit, shut: guarded, any }).flatMap(([name, members]) =>
    membersOf(
      name as keyof typeof classes,
      members.map(({ id }) => nameOf(id)),
    ),
  )
}

/** Returns the Mermaid lines that assign states, by name, to a style class. Empty without members. */
export const membersOf = (name: keyof typeof classes, members: readonly string[]): string[] =>
  members.length === 0
    ? []
    : [`  classDef ${name}State ${classes[name]}`, ...members.map((member) => `  class ${member} ${name}State`)]
