export { thousands as whole } from "../../words/amounts.ts";
