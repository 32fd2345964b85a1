import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { linkTarget } from '../../../../charts/src/text/linkTarget.ts'
import type {
  MarkdownAlign,
  MarkdownBlock,
  MarkdownItem,
  MarkdownSpan,
} from '../../../../charts/src/text/markdownTree.ts'
import { forDisplay } from '../model/words/shortText.ts'
import { CodeText } from './codeText.tsx'

export interface MarkdownProps {
  readonly blocks: readonly MarkdownBlock[]
  /** True while the last block still grows. */
  readonly isGrowing?: boolean
  /** Index of the first block among all blocks, so that blocks keep their elements. */
  readonly first?: number
}

/** Text in Markdown, made of text nodes alone: HTML in it is not interpreted, and nothing is loaded. */
export const Markdown = ({ blocks, isGrowing = false, first = 0 }: MarkdownProps) => (
  <div class="prose">
    {blocks.map((block, index) => (
      <Block key={first + index} block={block} isGrowing={isGrowing && index === blocks.length - 1} />
    ))}
  </div>
)

interface BlockProps {
  readonly block: MarkdownBlock
  readonly isGrowing: boolean
  /** True for a block within another one, which has its direction. */
  readonly isInner?: boolean
}

/** A block of Markdown, which is drawn once if it is settled. */
const Block = ({ block, isGrowing, isInner = false }: BlockProps) =>
  useMemo(() => drawn(block, isGrowing, isInner ? undefined : 'auto'), [block, isGrowing, isInner])

function drawn(block: MarkdownBlock, isGrowing: boolean, dir: 'auto' | undefined): ComponentChildren {
  switch (block.type) {
    case 'paragraph':
      return <p dir={dir}>{spans(block.spans)}</p>
    case 'heading':
      // The headings of a message are none of the page.
      return (
        <p class={`prose-heading is-${Math.min(block.level, 4)}`} dir={dir}>
          {spans(block.spans)}
        </p>
      )
    case 'list':
      return block.mark !== null ? (
        <ul
          class={block.items.some(({ isDone }) => isDone !== undefined) ? 'is-tasks' : listClasses[block.mark]}
          dir={dir}
        >
          {items(block.items)}
        </ul>
      ) : (
        <ol start={block.start} dir={dir}>
          {items(block.items)}
        </ol>
      )
    case 'table':
      return (
        <div class="prose-table scroll" tabIndex={0} role="group" aria-label="Table">
          <table dir={dir}>
            <thead>
              <tr>{cells('th', block.head, block.align)}</tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>{cells('td', row, block.align)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    case 'code':
      return <CodeText language={block.language} text={block.text} isGrowing={isGrowing} />
    case 'quote':
      return <blockquote dir={dir}>{inside(block.blocks)}</blockquote>
    case 'rule':
      return <hr />
  }
}

const listClasses = { '-': 'is-minus', '+': 'is-plus', '*': '' } as const

const inside = (blocks: readonly MarkdownBlock[]): ComponentChildren =>
  blocks.map((block, index) => <Block key={index} block={block} isGrowing={false} isInner />)

const items = (list: readonly MarkdownItem[]): ComponentChildren =>
  list.map(({ isDone, blocks }, index) => (
    <li key={index}>
      {isDone === undefined ? null : (
        <span class={`prose-task ${isDone ? 'is-done' : ''}`} role="img" aria-label={isDone ? 'done' : 'to do'} />
      )}
      {inside(blocks)}
    </li>
  ))

const cells = (
  Cell: 'td' | 'th',
  row: readonly (readonly MarkdownSpan[])[],
  align: readonly MarkdownAlign[],
): ComponentChildren =>
  row.map((cell, index) => (
    <Cell key={index} class={align[index] == null ? '' : `is-${align[index]}`}>
      {spans(cell)}
    </Cell>
  ))

const spans = (list: readonly MarkdownSpan[]): ComponentChildren =>
  list.map((span, index) => <Span key={index} span={span} />)

function Span({ span }: { readonly span: MarkdownSpan }) {
  switch (span.type) {
    case 'text':
      return <>{forDisplay(span.text)}</>
    case 'code':
      return <code>{forDisplay(span.text)}</code>
    case 'strong':
      return <strong>{spans(span.spans)}</strong>
    case 'emphasis':
      return <em>{spans(span.spans)}</em>
    case 'strike':
      return <del>{spans(span.spans)}</del>
    case 'break':
      return <br />
    case 'image':
      return (
        <span class="prose-image">
          image: {span.alt === '' ? null : `${forDisplay(span.alt)}, `}
          <Link url={span.url}>{forDisplay(span.url)}</Link>
        </span>
      )
    case 'link':
      return <Link url={span.url}>{spans(span.spans)}</Link>
  }
}

/** A link that shows its target, or text if a page must not follow it. */
function Link({ url, children }: { readonly url: string; readonly children: ComponentChildren }) {
  const href = linkTarget(url)
  return href === undefined ? (
    <span title={forDisplay(url)}>{children}</span>
  ) : (
    <a href={href} target="_blank" rel="noreferrer noopener" title={href} onClick={(event) => event.stopPropagation()}>
      {children}
    </a>
  )
}
