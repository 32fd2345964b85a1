import type { ChartDirection } from './chartMermaid.ts'
import type { ArrowStyle, ChartDrawing, DrawnArrow, DrawnNode } from './chartDrawing.ts'
import { fitText, measureText, wrapText } from './textMeasure.ts'
import { fontSizes } from './pictureStyle.ts'

/** A graph as ELK takes it and gives it back, as far as it is used here. */
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

/** Pixels from the left top of a picture. */
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

/** A state in its place; pixels from the left top of the picture. */
export interface PlacedBox extends DrawnNode {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** True if other boxes are inside it. */
  readonly isOuter: boolean
  /** Number of boxes around it. */
  readonly depth: number
}

/** An arrow in its place; `points` has two or more. */
export interface PlacedArrow {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly style: ArrowStyle
  /** Two or more: corners of the way; of a curve its start, what it bends towards, and its end. */
  readonly points: readonly Point[]
  readonly isCurve?: true
  /** `ring`: the way of a run from turn to turn. `bundle`: of all states to those where a run stops. */
  readonly role?: 'ring' | 'bundle'
  readonly edges: readonly string[]
  /** All transitions that it stands for, by name, a line each. */
  readonly names?: string
  readonly label?: { readonly x: number; readonly y: number; readonly lines: readonly string[] }
}

/** A picture with every box and arrow in its place. */
export interface ChartLayout {
  readonly title: string
  readonly width: number
  readonly height: number
  /** Outer boxes before those inside. */
  readonly boxes: readonly PlacedBox[]
  readonly arrows: readonly PlacedArrow[]
}

export const lineHeight = 16
const maxLabel = 112
const maxDetail = 200
const maxExit = 270
/** Length of the arrow before a transition that is written into a box, and the room that it takes. */
const exitArrow = 18
const exitIndent = 25
/** Distance of the text of a box from its edge. */
const inset = 12
/** The machine's own heading has the whole picture's width. */
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

/** Lines of an arrow's label, broken where they are long. */
const labelLines = ({ lines }: DrawnArrow): string[] =>
  lines.flatMap((line) => wrapText(line, fontSizes.label, maxLabel))

/** A line below a state's name; of a transition with the name that it leads to, and an arrow of its style before it. */
export interface BoxLine {
  readonly text: string
  readonly indent: number
  readonly name?: string
  readonly style?: ArrowStyle
}

type LinedBox = Pick<DrawnNode, 'details' | 'exits' | 'kind'>

/** Lines below a state's name. */
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

/** Width of a line in pixels. */
const lineWidth = ({ text, name = '', indent }: BoxLine): number =>
  indent + measureText(name, fontSizes.detail) * 1.06 + measureText(text, fontSizes.detail)

/** A box with lines has its words at its left. */
export const isLeft = (box: LinedBox & Pick<PlacedBox, 'isOuter'>): boolean =>
  box.isOuter || box.details.length > 0 || box.exits !== undefined

/** Distance of the words of a box from its left edge. */
export const leftOf = ({ isOuter }: Pick<PlacedBox, 'isOuter'>): number => (isOuter ? inset + 2 : inset)

/** The arrow before the line of a transition with its base at this point. Pure. */
export const exitPoints = (x: number, y: number): Point[] => [
  { x, y: y - 4 },
  { x: x + exitArrow, y: y - 4 },
]

const wayId = (index: number): string => `way ${index}`

const widest = (lines: readonly string[], fontSize: number): number =>
  lines.reduce((most, line) => Math.max(most, measureText(line, fontSize)), 0)

/** Room for what a brake says, however it stands: a layout holds for all of them. */
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
