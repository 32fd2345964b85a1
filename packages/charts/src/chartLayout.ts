import type { ChartDirection } from './chartMermaid.ts'
import type { ArrowStyle, ChartDrawing, DrawnArrow, DrawnNode } from './chartDrawing.ts'
import { fitText, measureText, wrapText } from './textMeasure.ts'
import { fontSizes } from './pictureStyle.ts'

/** A graph in the format of ELK's input and output, reduced to the fields used here. */
export interface ElkGraph {
  readonly id: string
  readonly x?: number
  readonly y?: number
  readonly width?: number
  readonly height?: number
  readonly layoutOptions?: Readonly<Record<string, string>>
  readonly labels?: readonly ElkText[]
  readonly children?: readonly ElkGraph[]
  readonly edges?: readonly ElkWay[]
}

interface ElkText {
  readonly id?: string
  readonly text?: string
  readonly x?: number
  readonly y?: number
  readonly width?: number
  readonly height?: number
}

/** A point, in pixels from the top left of a picture. */
export interface Point {
  readonly x: number
  readonly y: number
}

interface ElkWay {
  readonly id: string
  readonly sources: readonly string[]
  readonly targets: readonly string[]
  readonly labels?: readonly ElkText[]
  readonly layoutOptions?: Readonly<Record<string, string>>
  readonly sections?: readonly {
    readonly startPoint: Point
    readonly endPoint: Point
    readonly bendPoints?: readonly Point[]
  }[]
}

/** A placed state, in pixels from the top left of the picture. */
export interface PlacedBox extends DrawnNode {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** True if other boxes are inside the box. */
  readonly isOuter: boolean
  /** Number of boxes around the box. */
  readonly depth: number
}

/** A placed arrow, in pixels from the top left of the picture. */
export interface PlacedArrow {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly style: ArrowStyle
  /** Corners of the path, two or more. For a curve: its start, its control point and its end. */
  readonly points: readonly Point[]
  readonly isCurve?: true
  /** `ring`: part of the cycle of turns. `bundle`: all transitions from working states to those where a run stops. */
  readonly role?: 'ring' | 'bundle'
  readonly edges: readonly string[]
  /** Names of all transitions that the arrow stands for, one per line. */
  readonly names?: string
  readonly label?: { readonly x: number; readonly y: number; readonly lines: readonly string[] }
}

/** A picture with every box and arrow in its place. */
export interface ChartLayout {
  readonly title: string
  readonly width: number
  readonly height: number
  /** Boxes, outer ones before those inside them. */
  readonly boxes: readonly PlacedBox[]
  readonly arrows: readonly PlacedArrow[]
}

export const lineHeight = 16
const maxLabel = 112
const maxDetail = 200
const maxExit = 270
/** Length of the arrow before a transition that is written into a box, and the indent of its text, in pixels. */
const exitArrow = 18
const exitIndent = 25
/** Distance of the text of a box from its edge. */
const inset = 12
/** Maximum width of the lines below a machine's name, in pixels. They have the width of the whole picture. */
const maxHeading = 420

const marks: Readonly<Partial<Record<DrawnNode['kind'], number>>> = { initial: 12, junction: 14 }

const options: Readonly<Record<string, string>> = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.padding': '[top=20,left=20,bottom=20,right=20]',
  'elk.spacing.nodeNode': '20',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.edgeLabel': '5',
  'elk.layered.spacing.nodeNodeBetweenLayers': '24',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.randomSeed': '1',
  'elk.layered.cycleBreaking.strategy': 'GREEDY',
  // At most so many boxes beside each other: a picture as wide as a page can be read there.
  'elk.layered.layering.strategy': 'COFFMAN_GRAHAM',
  'elk.layered.layering.coffmanGraham.layerBound': '5',
}

/** Returns the lines of an arrow's label, with long ones wrapped. */
const labelLines = ({ lines }: DrawnArrow): string[] =>
  lines.flatMap((line) => wrapText(line, fontSizes.label, maxLabel))

/** A line below a state's name. The line of a transition names its target and has an arrow of its style before it. */
export interface BoxLine {
  readonly text: string
  readonly indent: number
  readonly name?: string
  readonly style?: ArrowStyle
}

type LinedBox = Pick<DrawnNode, 'details' | 'exits' | 'kind'>

/** Returns the lines below a state's name. */
export const boxLines = ({ details, exits = [], kind }: LinedBox): BoxLine[] => [
  ...details
    .flatMap((line) => wrapText(line, fontSizes.detail, kind === 'machine' ? maxHeading : maxDetail))
    .map((text) => ({ text, indent: 0 })),
  ...exits.flatMap(({ name, when, style }) =>
    wrapText(`${name} ${when}`, fontSizes.detail, maxExit).map((text, index): BoxLine => {
      if (index > 0) return { text, indent: exitIndent }
      return { text: text.slice(name.length), indent: exitIndent, name, style }
    }),
  ),
]

/** Returns the width of a line in pixels. */
const lineWidth = ({ text, name = '', indent }: BoxLine): number =>
  indent + measureText(name, fontSizes.detail) * 1.06 + measureText(text, fontSizes.detail)

/** Returns true if the words of a box are aligned left, as in a box with lines. */
export const isLeft = (box: LinedBox & Pick<PlacedBox, 'isOuter'>): boolean =>
  box.isOuter || box.details.length > 0 || box.exits !== undefined

/** Returns the distance of a box's words from its left edge, in pixels. */
export const leftOf = ({ isOuter }: Pick<PlacedBox, 'isOuter'>): number => (isOuter ? inset + 2 : inset)

/** Returns the points of the arrow before a transition's line. `x`, `y`: start of the line's baseline. Pure. */
export const exitPoints = (x: number, y: number): Point[] => [
  { x, y: y - 4 },
  { x: x + exitArrow, y: y - 4 },
]

const wayId = (index: number): string => `way ${index}`

const widest = (lines: readonly string[], fontSize: number): number =>
  lines.reduce((most, line) => Math.max(most, measureText(line, fontSize)), 0)

/** Longest words of a brake. A layout leaves room for them, so that it holds for every setting of the brakes. */
const brakeLine = 'brake open'
const sized = (lines: readonly string[], style: ArrowStyle): readonly string[] =>
  style === 'open' || style === 'shut' || style === 'brake' ? [...lines.slice(0, -1), brakeLine] : lines

/** Converts a drawing into a graph for ELK. The graph is the same for every title, active state and setting of brakes. Pure. */
export function toElk(drawing: ChartDrawing, direction: ChartDirection = 'down'): ElkGraph {
  const inside = new Map<string | undefined, DrawnNode[]>()
  for (const node of drawing.nodes) {
    const siblings = inside.get(node.parent)
    if (siblings === undefined) inside.set(node.parent, [node])
    else siblings.push(node)
  }
  const graphOf = (node: DrawnNode): ElkGraph => {
    const side = marks[node.kind]
    if (side !== undefined && node.exits === undefined) return { id: node.id, width: side, height: side }
    const lines = boxLines(node)
    const label = node.kind === 'machine' ? maxHeading : measureText(node.label, fontSizes.name) * 1.06
    const width = Math.max(label, ...lines.map(lineWidth)) + 2 * inset
    const header = 26 + lines.length * lineHeight
    const children = inside.get(node.id)
    if (children === undefined) return { id: node.id, width: Math.max(64, width), height: header + 8 }
    return {
      id: node.id,
      children: children.map(graphOf),
      layoutOptions: {
        ...options,
        'elk.direction': direction === 'down' ? 'DOWN' : 'RIGHT',
        'elk.padding': `[top=${header + 16},left=18,bottom=18,right=18]`,
        'elk.nodeSize.constraints': 'MINIMUM_SIZE',
        // ELK turns a picture that goes down on its side, and this with it.
        'elk.nodeSize.minimum': direction === 'down' ? `(${header + 30}, ${width})` : `(${width}, ${header + 30})`,
      },
    }
  }
  return {
    id: '(picture)',
    layoutOptions: { ...options, 'elk.direction': direction === 'down' ? 'DOWN' : 'RIGHT' },
    children: (inside.get(undefined) ?? []).map(graphOf),
    edges: drawing.arrows.map((arrow, index) => {
      const lines = sized(labelLines(arrow), arrow.style)
      const way = { id: wayId(index), sources: [arrow.from], targets: [arrow.to] }
      if (lines.length === 0) return way
      const weight = arrow.style === 'plain' ? 1 : 1.08
      const size = { width: widest(lines, fontSizes.label) * weight + 8, height: lines.length * lineHeight + 2 }
      return {
        ...way,
        labels: [
          {
            id: `${wayId(index)} label`,
            text: lines.join('\n'),
            ...size,
            layoutOptions: { 'elk.edgeLabels.placement': 'CENTER' },
          },
        ],
      }
    }),
  }
}

/** Combines the layout from ELK with the drawing that it was made from. Pure. */
export function fromElk(laidOut: ElkGraph, drawing: ChartDrawing): ChartLayout {
  const places = new Map<string, { graph: ElkGraph; depth: number }>()
  const ways: ElkWay[] = []
  const visit = (graph: ElkGraph, depth: number): void => {
    places.set(graph.id, { graph, depth })
    ways.push(...(graph.edges ?? []))
    for (const child of graph.children ?? []) visit(child, depth + 1)
  }
  visit(laidOut, 0)
  const boxes = drawing.nodes.map((node): PlacedBox => {
    const { graph, depth } = places.get(node.id)!
    const { x = 0, y = 0, width = 0, height = 0, children = [] } = graph
    const label = node.kind === 'machine' ? fitText(node.label, fontSizes.name, maxHeading) : node.label
    return { ...node, label, x, y, width, height, depth, isOuter: children.length > 0 }
  })
  const byId = new Map(ways.map((way) => [way.id, way]))
  const arrows = drawing.arrows.map((arrow, index): PlacedArrow => {
    const { sections = [], labels = [] } = byId.get(wayId(index))!
    const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
      startPoint,
      ...bendPoints,
      endPoint,
    ])
    const [label] = labels
    const { id, from, to, style, edges } = arrow
    return {
      id,
      from,
      to,
      style,
      edges,
      points,
      ...(label === undefined ? {} : { label: { x: label.x ?? 0, y: label.y ?? 0, lines: labelLines(arrow) } }),
    }
  })
  const { width = 0, height = 0 } = laidOut
  return { title: drawing.title, width: Math.ceil(width), height: Math.ceil(height), boxes, arrows }
}
