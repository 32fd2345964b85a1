/** Code for rich text that is fetched once the page is shown. */
export { codeTokens } from '../../../../../charts/src/text/codeTokens.ts'
export { growMarkdown } from '../../../../../charts/src/text/growingMarkdown.ts'
export { parseMarkdown } from '../../../../../charts/src/text/markdown.ts'
