/** Code for rich text that is fetched once the page is shown. */
export { codeTokens } from '../../text/codeTokens.ts'
export { growMarkdown } from '../../text/growingMarkdown.ts'
export { parseMarkdown } from '../../text/markdown.ts'
